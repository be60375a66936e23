; What python.py looks at; statements at module level it walks itself.
(function_definition) @function
(class_definition) @class
(import_statement) @import
(import_from_statement) @from
