// Zoom, colours and the panel of the territory plate. Without it each area is a link to its folder's page.
(function () {
  "use strict";
  var map = document.getElementById("tm"), tools = document.getElementById("tm-tools"), side = document.getElementById("side");
  if (!map || !tools) { return; }
  var base = document.documentElement.dataset.root || "", up = document.getElementById("tm-up"), where = document.getElementById("tm-where");
  var first = map.innerHTML, sideFirst = side.innerHTML, tree = null, pending = false, here = "", chosen = "";
  function load(then) {
    if (tree) { then(); return; }
    if (pending) { return; }
    pending = true;
    var script = document.createElement("script");
    script.src = tools.dataset.src;
    script.onload = function () { tree = window.ATLAS_TERRAIN; then(); };
    document.head.appendChild(script);
  }
  function node(path) {
    var found = tree;
    path.split("/").filter(Boolean).forEach(function (name) { found = found && (found.c || []).filter(function (child) { return child.n === name; })[0]; });
    return found;
  }
  function number(n) { return n.toLocaleString("en-US"); }
  function make(tag, css, text) { var made = document.createElement(tag); if (css) { made.className = css; } if (text !== undefined) { made.textContent = text; } return made; }
  function address(found, path) { return base + (found.a || "source/" + encodeURI(path) + (found.f ? "/index.html" : ".html")); }
  function worst(row, side) {
    var total = row.reduce(function (a, b) { return a + b; }, 0);
    return row.reduce(function (most, area) { return Math.max(most, side * side * area / (total * total), total * total / (side * side * area)); }, 0);
  }
  function squarify(sizes, x, y, w, h) {
    var total = sizes.reduce(function (a, b) { return a + b; }, 0), found = [], start = 0, aspect = map.clientWidth / map.clientHeight;
    x *= aspect; w *= aspect;
    var areas = sizes.map(function (size) { return size * w * h / total; });
    while (start < areas.length) {
      var length = Math.min(w, h), end = start + 1;
      while (end < areas.length && worst(areas.slice(start, end + 1), length) <= worst(areas.slice(start, end), length)) { end++; }
      var row = areas.slice(start, end), thick = row.reduce(function (a, b) { return a + b; }, 0) / length, offset = 0, wide = w >= h;
      row.forEach(function (area) {
        var long = area / thick;
        found.push(wide ? [x / aspect, y + offset, thick / aspect, long] : [(x + offset) / aspect, y, long / aspect, thick]);
        offset += long;
      });
      if (wide) { x += thick; w -= thick; } else { y += thick; h -= thick; }
      start = end;
    }
    return found;
  }
  function straight(found, path) {
    var lines = found.l, name = found.n, inner;
    while ((inner = (found.c || []).filter(function (child) { return child.f && child.l >= 0.97 * lines; })[0])) { found = inner; path += "/" + inner.n; name += "/" + inner.n; }
    return { node: found, path: path, name: name };
  }
  function draw(found, path, box, depth) {
    var children = (found.c || []).filter(function (child) { return child.l; }).sort(function (a, b) { return b.l - a.l || (a.n < b.n ? -1 : 1); });
    var boxes = squarify(children.map(function (child) { return child.l; }), box[0], box[1], box[2], box[3]);
    children.forEach(function (child, i) {
      var area = boxes[i], ahead = straight(child, (path ? path + "/" : "") + child.n), inner = depth > 1 && child.f && area[2] > 8 && area[3] > 11;
      var cell = make(child.r ? "span" : "a", "tm-cell " + (child.r ? "rest" : inner ? "region" : child.f ? "folder" : "file")), label = make("span", child.e ? "e" + child.e : "");
      if (!child.r) { cell.href = address(ahead.node, ahead.path); cell.dataset.p = ahead.path; }
      cell.title = ahead.path + ": " + number(child.l) + " lines";
      cell.dataset.t = child.t || found.t; cell.dataset.f = child.d === undefined ? found.d : child.d; cell.dataset.g = child.g || found.g; cell.dataset.h = child.h || 0;
      ["--x", "--y", "--w", "--h"].forEach(function (name, n) { cell.style.setProperty(name, area[n].toFixed(3) + "%"); });
      label.append(make("b", "", ahead.name), make("small", "", number(child.l))); cell.append(label); map.append(cell);
      if (inner) { var top = Math.min(3.4, area[3] * 0.3); draw(ahead.node, ahead.path, [area[0] + 0.4, area[1] + top, area[2] - 0.8, area[3] - top - 0.6], depth - 1); }
    });
  }
  function show(path) {
    here = path; chosen = path;
    if (!path) { map.innerHTML = first; side.innerHTML = sideFirst; }
    else { map.textContent = ""; draw(node(path), path, [0, 0, 100, 100], 2); panel(path); }
    up.hidden = !path; where.textContent = path || "all territories";
  }
  function panel(path) {
    var found = node(path); if (!found) { return; }
    side.textContent = "";
    var facts = make("dl"), open = make("p", "small"), link = make("a", "", "Open the page of this " + (found.f ? "folder" : "file"));
    link.href = address(found, path);
    [["lines", number(found.l)], found.f && ["files", number(found.f)], found.o && ["operators", number(found.o)],
      ["share of the tree", (100 * found.l / tree.l).toFixed(1) + " %"], found.d && ["floor", String(found.d)]].filter(Boolean).forEach(function (row) { facts.append(make("dt", "", row[0]), make("dd", "", row[1])); });
    open.append(link); side.append(make("h2", "", path), facts, open);
    var children = (found.c || []).slice().sort(function (a, b) { return b.l - a.l; }).slice(0, 12);
    if (children.length) {
      var list = make("ul");
      children.forEach(function (child) {
        var item = make("li"), name;
        if (child.r) { name = make("span", "", child.n); } else { name = make("a"); name.href = address(child, path + "/" + child.n); name.append(make("code", "", child.n + (child.f ? "/" : ""))); }
        item.append(name, make("span", "", number(child.l))); list.append(item);
      });
      side.append(make("h3", "", "Largest parts"), list);
    }
  }
  function pathOf(cell) {
    if (cell.dataset.p) { return cell.dataset.p; }
    return (cell.title || "").split(": ")[0];
  }
  map.addEventListener("click", function (event) {
    var cell = event.target.closest("a.tm-cell");
    if (!cell || event.ctrlKey || event.metaKey || event.shiftKey) { return; }
    event.preventDefault();
    load(function () {
      var path = pathOf(cell), found = node(path);
      if (!found || !found.f) { if (chosen === path || !found) { location.href = cell.href; return; } chosen = path; mark(cell); panel(path); return; }
      try { history.pushState({ tm: path }, "", "#" + path); } catch (e) { /* file:// in some browsers */ }
      show(path);
    });
  });
  function mark(cell) { map.querySelectorAll(".on").forEach(function (other) { other.classList.remove("on"); }); cell.classList.add("on"); }
  up.addEventListener("click", function () {
    var path = here.split("/").slice(0, -1).join("/");
    while (path && node(path) && node(path).l * 0.97 <= node(here).l) { path = path.split("/").slice(0, -1).join("/"); }
    try { history.pushState({ tm: path }, "", path ? "#" + path : "#"); } catch (e) { /* as above */ }
    show(path);
  });
  addEventListener("popstate", function () { load(function () { show(decodeURIComponent(location.hash.slice(1))); }); });
  tools.querySelectorAll("[data-by]").forEach(function (button) {
    button.addEventListener("click", function () {
      map.dataset.by = button.dataset.by;
      tools.querySelectorAll("[data-by]").forEach(function (other) { other.setAttribute("aria-pressed", other === button ? "true" : "false"); });
      document.querySelectorAll(".tmkey").forEach(function (key) { key.classList.toggle("on", key.dataset.key === button.dataset.by); });
    });
  });
  var asked = ""; try { asked = decodeURIComponent(location.hash.slice(1)); } catch (e) { /* not a folder */ }
  if (asked) { load(function () { if (node(asked) && node(asked).f) { show(asked); } }); }
})();
