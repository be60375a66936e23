// The filter of the operator matrix. It looks through all sheets: the rows come from operators-data.js on first use.
(function () {
  "use strict";
  var form = document.getElementById("filters"), table = document.getElementById("m");
  if (!form || !table) { return; }
  var base = document.documentElement.dataset.root || "", body = table.tBodies[0], own = body.innerHTML;
  var name = document.getElementById("f-name"), has = document.getElementById("f-has"), column = document.getElementById("f-col");
  var out = document.getElementById("f-out"), before = out.textContent, kind = "", data = null, pending = false;
  var kinds = Array.prototype.slice.call(form.querySelectorAll("[data-kind]"));
  var groups = Array.prototype.slice.call(table.tHead.rows[0].cells, 2, -1).map(function (cell) { return cell.classList.contains("gs"); });
  var CSS = { K: "k", S: "s", D: "d", C: "c", f: "f", w: "w", e: "e" }, MOST = 400;
  function load() {
    if (pending) { return; }
    pending = true;
    var script = document.createElement("script");
    script.src = form.dataset.src;
    script.onload = function () { data = window.ATLAS_OPERATORS; apply(); };
    document.head.appendChild(script);
  }
  function keep(row, query) {
    if (query && row[0].toLowerCase().indexOf(query) < 0) { return false; }
    if (kind && row[2] !== kind) { return false; }
    if (!has.value) { return true; }
    var letter = row[4].charAt(Number(column.value));
    return has.value === "own" ? letter === "K" || letter === "S" : has.value === "none" ? letter === "-" : letter === has.value;
  }
  function cell(tag, css, text) { var made = document.createElement(tag); if (css) { made.className = css; } if (text) { made.textContent = text; } return made; }
  function draw(row) {
    var line = document.createElement("tr"), head = cell("th"), link = cell("a", "", row[0]);
    head.scope = "row"; link.href = base + row[1]; head.append(link); line.append(head, cell("td", "py", row[3]));
    row[4].split("").forEach(function (letter, i) {
      var place = cell("td", "m" + (groups[i] ? " gs" : ""));
      if (letter !== "-") { place.append(cell("i", CSS[letter] || "u", letter)); }
      line.append(place);
    });
    line.append(cell("td", "ln"));
    return line;
  }
  function apply() {
    var query = name.value.trim().toLowerCase();
    if (!query && !kind && !has.value) { body.innerHTML = own; out.textContent = before; return; }
    if (!data) { load(); return; }
    var found = data.rows.filter(function (row) { return keep(row, query); }), part = document.createDocumentFragment();
    found.slice(0, MOST).forEach(function (row) { part.append(draw(row)); });
    body.textContent = ""; body.append(part);
    out.textContent = found.length.toLocaleString("en-US") + " of " + data.rows.length.toLocaleString("en-US") + (found.length > MOST ? ", the first " + MOST + " shown" : "");
  }
  kinds.forEach(function (button) {
    button.addEventListener("click", function () {
      kind = button.dataset.kind;
      kinds.forEach(function (other) { other.setAttribute("aria-pressed", other === button ? "true" : "false"); });
      apply();
    });
  });
  [name, has, column].forEach(function (field) { field.addEventListener("input", apply); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  var asked = /[?&]q=([^&]*)/.exec(location.search);
  if (asked) { name.value = decodeURIComponent(asked[1].replace(/\+/g, " ")); apply(); }
})();
