; What a second reading looks for where the outline made no sense (see definitions.py).
(function_definition) @function
(class_specifier body: (_)) @class
(struct_specifier body: (_)) @struct
