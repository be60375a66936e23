// Atlas of the PyTorch source: theme, keys, search, copy buttons. Every page reads without it.
// Classic script (file:// allows no modules and no fetch); the search index is further scripts, loaded on first use.
(function () {
  "use strict";
  var root = document.documentElement, base = root.dataset.root || "";
  function $(selector, from) { return (from || document).querySelector(selector); }
  function all(selector, from) { return Array.prototype.slice.call((from || document).querySelectorAll(selector)); }
  function make(tag, attributes, text) {
    var element = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) { element.setAttribute(name, attributes[name]); });
    if (text) { element.textContent = text; }
    return element;
  }

  // Theme: the system's unless the reader chose; theme.js sets the choice before the first paint.
  function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; }
  function toggleTheme() {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("atlas-theme", root.dataset.theme); } catch (e) { /* private window */ }
  }

  // Tools in the masthead exist only where scripts run.
  var tools = $(".tools"), help = null;
  if (tools) {
    var theme = make("button", { class: "icon-btn", type: "button", "aria-label": "Light or dark theme", title: "Light or dark (t)" }, "◐");
    var keys = make("button", { class: "icon-btn", type: "button", "aria-label": "Keys and signs", title: "Keys and signs (?)" }, "?");
    theme.addEventListener("click", toggleTheme); keys.addEventListener("click", showHelp);
    tools.append(theme, keys);
  }
  function showHelp() {
    if (help) { if (help.open) { help.close(); } else { help.showModal(); } return; }
    help = make("dialog", { class: "help", "aria-labelledby": "help-h" });
    var box = make("div"), list = make("dl"), form = make("form", { method: "dialog" });
    box.append(make("h2", { id: "help-h" }, "Keys and signs"), list);
    [["/ or s", "search operators, kernels, files, names"], ["g, then 1 to 8", "go to a floor"], ["[ and ]", "previous and next sheet"],
      ["c", "copy the place of the receipt in focus"], ["t", "light or dark"], ["?", "this sheet; Esc closes"]].forEach(function (row) {
      var key = make("dt"); key.append(make("kbd", {}, row[0])); list.append(key, make("dd", {}, row[1]));
    });
    box.append(make("p", {}, "Orange is the subject, ink is structure, grey is context. Dashed is generated, implied or dormant. A dotted link is a receipt: it opens the line that was read."));
    form.append(make("button", { class: "btn" }, "Close")); box.append(form); help.append(box); document.body.append(help);
    help.showModal();
  }

  // Ticks of the self check: kept by their words, so they outlive a new atlas.
  all(".tick input").forEach(function (box) {
    var key = "atlas-tick " + box.parentNode.textContent.trim();
    try { box.checked = localStorage.getItem(key) === "1"; } catch (e) { /* private window */ }
    box.addEventListener("change", function () {
      try { if (box.checked) { localStorage.setItem(key, "1"); } else { localStorage.removeItem(key); } } catch (e) { /* private window */ }
    });
  });

  // Receipts: "path:line" from a permalink, for the clipboard.
  function placeOf(link) {
    var found = /\/blob\/[^/]+\/([^#]+)(?:#L(\d+))?/.exec(link.getAttribute("href") || "");
    return found ? decodeURIComponent(found[1]) + (found[2] ? ":" + found[2] : "") : "";
  }
  function copy(text, shown) {
    function say(ok) {
      var before = shown.textContent;
      shown.textContent = ok ? "copied" : "not copied"; shown.classList.add("copied");
      setTimeout(function () { shown.textContent = before; shown.classList.remove("copied"); }, 1200);
    }
    function byHand() {
      var field = make("textarea", { "aria-hidden": "true", style: "position:fixed;opacity:0" });
      field.value = text; document.body.append(field); field.select();
      var ok = false; try { ok = document.execCommand("copy"); } catch (e) { /* said below */ }
      field.remove(); shown.focus(); say(ok);
    }
    if (navigator.clipboard && window.isSecureContext) { navigator.clipboard.writeText(text).then(function () { say(true); }, byHand); } else { byHand(); }
  }
  all(".chains li, .stops > li").forEach(function (step) {
    var link = $(':scope > a[href^="https:"], :scope > span > a[href^="https:"]', step), place = link && placeOf(link);
    if (!place) { return; }
    var button = make("button", { class: "copy", type: "button", "aria-label": "Copy " + place }, "copy");
    button.addEventListener("click", function () { copy(place, button); });
    (link.parentNode === step ? step : link.parentNode).append(button);
  });
  document.addEventListener("mouseover", function (event) {
    var link = event.target.closest && event.target.closest('a[href^="https:"]');
    if (link && !link.title) { link.title = placeOf(link); }
  });

  // Symbols: each line number opens its line of the file that the caption names.
  var symbols = $("#lines"), source = symbols && $("caption a", symbols);
  if (source) {
    all("td:first-child", symbols).forEach(function (cell) {
      var link = make("a", { href: source.getAttribute("href") + "#L" + cell.textContent }, cell.textContent);
      cell.textContent = ""; cell.append(link);
    });
  }

  // Search: a combobox over window.ATLAS_SHARDS. Shard 0 answers most; files, kernels and symbols come when asked for.
  var input = $("#q"), list = null, rows = { "0": null }, wanted = {}, awaited = 0, active = -1, hits = [];
  // What a kind is worth: operators and the names of the user's world before the ground below them.
  var WEIGHT = { plate: 0, operator: 0, python: 400, node: 300, binding: 500, guide: 650, stub: 600, folder: 900, file: 1000, symbol: 1500 };
  var KINDS = { K: "kernel", k: "kernel", d: "device", f: "function", m: "method", c: "class", x: "macro" };
  function load(name, then) {
    if (wanted[name]) { return; }
    wanted[name] = true; awaited += 1;
    var script = document.createElement("script");
    script.src = base + "search/" + name + ".js";
    script.onload = function () { awaited -= 1; read(name, (window.ATLAS_SHARDS || {})[name] || {}); then(); };
    script.onerror = function () { awaited -= 1; rows[name] = []; then(); };
    document.head.appendChild(script);
  }
  function lines(text) { return text ? text.split("\n") : []; }
  function operatorAddress(name, page) {
    var full = name.split("::"), tail = full[full.length - 1];
    var key = page || (full.length > 1 ? full[0] + "/" : "") + tail.split(".")[0];
    return "op/" + key + ".html#" + tail;
  }
  var pageOf = {}, files = [];
  function read(name, shard) {
    var found = [];
    function add(text, kind, address) {
      lines(text).forEach(function (line) {
        var cut = line.split("\t");
        found.push({ name: cut[0], low: cut[0].toLowerCase(), kind: kind, to: cut[1] || "", address: address, words: cut[2] || "", bag: cut[3] || "" });
      });
    }
    if (name === "0") {
      add(shard.plates, "plate", function (row) { return row.to; });
      add(shard.guide, "guide", function (row) { return row.to; });
      add(shard.operators, "operator", function (row) { return operatorAddress(row.name, row.to); });
      found.forEach(function (row) { if (row.kind === "operator") { row.base = row.low.split("::").pop().split(".")[0]; if (row.to) { pageOf[row.name] = row.to; } } });
      found.filter(function (row) { return row.kind === "operator"; }).slice(Number(shard.mains)).forEach(function (row) { row.later = 100; });
      add(shard.python, "python", function (row) { return operatorAddress(row.to, pageOf[row.to]); });
      add(shard.bindings, "binding", function (row) { return operatorAddress(row.to, pageOf[row.to]); });
      add(shard.nodes, "node", function (row) { return operatorAddress(row.to, pageOf[row.to]); });
      add(shard.stubs, "stub", function (row) { return row.to; });
      rows.keys = (shard.shards || "").split(" ");
    } else if (name === "files") {
      add(shard.files, "file", function (row) { return row.to || "source/" + encodeURI(row.name) + ".html"; });
      files = found.slice();
      add(shard.folders, "folder", function (row) { return row.to || "source/" + encodeURI(row.name) + "/index.html"; });
    } else {
      add(shard.symbols, "symbol", null);
      found.forEach(function (row) { row.reached = /(^| )K/.test(row.to); });
    }
    rows[name] = found;
  }
  // Rank: exact, whole first part (add finds add.Tensor before addr), prefix, start of a part, anywhere; short names first.
  function score(low, query) {
    var at = low.indexOf(query);
    if (at < 0) { return -1; }
    var after = low.charAt(at + query.length), before = at ? low.charAt(at - 1) : "";
    var end = after === "" || after === "." || after === ":" || after === "/";
    var whole = low === query || (at === 0 && after === ".");
    var rank = whole ? 0 : at === 0 && end ? 1 : at > 0 && /[.:\/]/.test(before) && end ? 2 : at === 0 ? 3 : /[._:\/ ]/.test(before) ? 4 : 5;
    return rank * 1000 + Math.min(low.length, 300);
  }
  // One letter wrong, missing, doubled or swapped: only where nothing else was found. Compared part by part.
  function near(a, b, most) {
    if (Math.abs(a.length - b.length) > most) { return most + 1; }
    var before = [], current = [], older, i, j;
    for (j = 0; j <= b.length; j++) { before[j] = j; }
    for (i = 1; i <= a.length; i++) {
      current = [i];
      for (j = 1; j <= b.length; j++) {
        var same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1;
        current[j] = Math.min(before[j] + 1, current[j - 1] + 1, before[j - 1] + same);
        if (older && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) { current[j] = Math.min(current[j], older[j - 2] + 1); }
      }
      older = before; before = current;
    }
    return before[b.length];
  }
  // A guide page is found by the words that people ask with: by those of its title and of known questions most, by those of
  // its text too; a word that few pages have says more than one that all have.
  var IDLE = /^(the|a|an|is|are|was|be|of|in|to|do|does|did|how|what|where|why|which|when|can|could|i|it|its|for|and|or|by|from|with|on|at|not|no|me|my|has|have|had|there|this|that|come|comes|find|want|need|but|so|if|as|about|into|get|gets|know|mean|understand|we|you|your|they|pytorch|torch)$/;
  function wordsOf(query) {
    var words = query.split(/[^a-z0-9_.+:]+/).map(function (word) { return word.replace(/^[.:]+|[.:]+$/g, ""); });
    return words.filter(function (word) { return word.length > 1 && !IDLE.test(word); });
  }
  function stem(word) { return word.length > 4 && !/[._:]/.test(word) ? word.replace(/(?:ing|ed|es|s)$/, "") : word; }
  function spaced(text) { return " " + text.replace(/[^a-z0-9_]+/g, " "); }
  function needle(word) { return { whole: spaced(word).replace(/^ +/, " "), last: /[.:]/.test(word) ? " " + word.split(/[.:]+/).pop() : "" }; }
  function holds(text, word) { return text.indexOf(word.whole) >= 0 || (word.last !== "" && text.indexOf(word.last) >= 0); }
  var weighed = { query: null };
  function weigh(query) {  // once a query: its words, and what each is worth
    if (weighed.query === query) { return weighed; }
    var guide = rows["0"].filter(function (row) { return row.kind === "guide"; }), all = 0;
    guide.forEach(function (row) {
      if (row.known) { return; }
      row.known = spaced(row.low + " " + row.words); row.told = " " + row.bag;
      row.phrases = row.words.split("|").concat(row.low).filter(Boolean).map(function (phrase) { return { as: phrase, spaced: spaced(phrase) }; });
    });
    var words = wordsOf(query).map(stem).map(needle);
    if (words.length > 1) {
      words.forEach(function (word) {
        var pages = guide.filter(function (row) { return holds(row.known, word) || holds(row.told, word); }).length;
        word.worth = Math.log(1 + guide.length / Math.max(pages, 2));
        all += word.worth;
      });
    }
    weighed = { query: query, words: words, all: all };
    return weighed;
  }
  function guideScore(row, query) {
    var best = score(row.low, query), asked = weigh(query), sum = 0, single = 0;
    row.phrases.forEach(function (phrase) { var points = score(phrase.as, query); if (points >= 0 && (best < 0 || points < best)) { best = points; } });
    if (best >= 0 || asked.words.length < 2) { return best; }
    asked.words.forEach(function (word) { sum += holds(row.known, word) ? word.worth : holds(row.told, word) ? word.worth / 2 : 0; });
    if (sum / asked.all < 0.45) { return -1; }
    row.phrases.forEach(function (phrase) {  // words that stand together in one question count more
      single = Math.max(single, asked.words.filter(function (word) { return holds(phrase.spaced, word); }).length / asked.words.length);
    });
    return 5200 - 3600 * sum / asked.all - 800 * single;
  }
  // A question names what it is about: torch.div, add_.Tensor, AddBackward0. What has exactly that name follows the best pages.
  function namedIn(query) {
    var names = wordsOf(query).filter(function (word) { return /[._:0-9]/.test(word); }), found = {};
    names.forEach(function (name) {
      found[name] = true;
      if (!/\.(cpp|cuh?|hp?p?|mm|md|pyi?|yaml)$/.test(name)) { found[name.split(/::|\./).pop()] = true; }
    });
    return found;
  }
  // Several words: names hold them all, joined or apart. Words for a kind of thing or a backend only favour; idle ones are left out.
  var KIND_WORDS = { kernel: /^[Kkd]/, kernels: /^[Kkd]/, operator: "operator", op: "operator", node: "node", binding: "binding", stub: "stub", file: "file", folder: "folder", directory: "folder",
    python: "python", function: /^[fK]/, method: /^m/, "class": /^c/, struct: /^c/, macro: /^x/, implementation: /^K/, implementations: /^K/, implemented: /^K/, source: null, code: null, definition: null, defined: null, native: null, pytorch: null, torch: "python" };
  var BACKENDS = /^(cpu|cuda|mps|xpu|meta|gpu|metal|vulkan|mkldnn|onednn|cudnn|hip|rocm)$/;
  function termsOf(query) {
    var words = query.split(/[^a-z0-9_.:~+]+/).filter(function (word) { return word && !IDLE.test(word); });
    if (words.length < 2) { return null; }
    var core = words.filter(function (word) { return !(word in KIND_WORDS) && !BACKENDS.test(word); });
    var backends = words.filter(function (word) { return BACKENDS.test(word); }), kinds = words.filter(function (word) { return word in KIND_WORDS; });
    if (!core.length) { core = backends.concat(kinds); backends = []; kinds = []; }
    return { core: core, joined: core.length > 1 ? [core.join("_"), core.join("")] : [], backends: backends, kinds: kinds };
  }
  function termsScore(row, asked) {
    var sum = 0, missing = 0, best = -1;
    asked.core.forEach(function (word) { var points = score(row.low, word); if (points < 0) { missing += 1; } else { sum += points; } });
    if (missing === asked.core.length) { return -1; }
    asked.joined.forEach(function (word) { var points = score(row.low, word); if (points >= 0 && (best < 0 || points < best)) { best = points; } });
    if (best < 0) {
      if (missing && (missing > 1 || asked.core.length > 2)) { return -1; }
      best = sum / (asked.core.length - missing) + 300 + 5400 * missing;
    }
    asked.backends.forEach(function (word) {
      if (row.low.indexOf(word === "gpu" ? "cuda" : word) >= 0) { best -= 900; } else if (row.kind === "symbol" || row.kind === "file") { best += 1500; }
    });
    if (row.kind === "symbol" && !row.reached && (asked.backends.length || asked.kinds.length)) { best += 1200; }
    asked.kinds.forEach(function (word) {
      var kind = KIND_WORDS[word];
      if (kind && (typeof kind === "string" ? row.kind === kind : row.kind === "symbol" && kind.test(row.to))) { best -= row.kind === "symbol" ? 2000 : 700; }
    });
    return best;
  }
  function shardsOf(query) {
    var asked = termsOf(query), found = {};
    (asked ? asked.core.concat(asked.joined.slice(0, 1)).filter(function (word) { return word.length > 2; }) : [query]).forEach(function (word) {
      var last = word.split(/::|\./).filter(Boolean).pop() || "", letters = last.replace(/^[_ ~]+/, "").replace(/[^a-z0-9]/g, "");
      if (letters.length < 2) { return; }
      (rows.keys || []).forEach(function (key) { if (key === letters.slice(0, key.length).padEnd(key.length, "_") || (letters.length === 2 && key.length > 2 && key.indexOf(letters) === 0)) { found[key] = true; } });
    });
    return Object.keys(found);
  }
  function symbolPlaces(row) {
    return row.to.split(" ").sort(function (a, b) { return (b.charAt(0) === "K") - (a.charAt(0) === "K"); }).map(function (place) {
      var found = /^(.)(\d+)(?:~(\d+))?:(\d+)$/.exec(place), file = found && files[Number(found[2])];
      if (!file) { return null; }
      var page = file.to || "source/" + encodeURI(file.name) + ".html";
      if (found[3]) { page = page.replace(/\.html$/, "~" + found[3] + ".html"); }
      return { address: page + "#L" + found[4], far: file.name.split("/").pop() + ":" + found[4], kind: KINDS[found[1]] || "symbol" };
    }).filter(Boolean);
  }
  function find(query) {
    var words = / /.test(query) ? wordsOf(query) : [];
    if (words.length === 1 && words[0] !== query) { return find(words[0]); }
    var found = [], asked = termsOf(query), named = words.length ? namedIn(query) : {};
    var names = ["0", "files", "kernels"].concat(shardsOf(query).map(function (key) { return "s-" + key; }));
    var parts = query.split(/::|\./).filter(Boolean), tail = parts[parts.length - 1] || "", inner = tail !== query && tail.length > 1;
    var spelled = /^torch\.\w+\.\w+$/.test(query) ? parts.slice(1).join("_") : null;  // torch.linalg.svd is linalg_svd
    var path = query.indexOf("/") > 0 ? query.replace(/\/$/, "") : null;  // the whole path of a file or a folder
    names.forEach(function (name) {
      (rows[name] || []).forEach(function (row) {
        var points = row.kind === "guide" ? guideScore(row, query) : asked ? termsScore(row, asked) : score(row.low, query);
        if (points < 0 && inner && row.kind === "operator" && !row.later && row.base === tail) { points = row.low.indexOf("::") < 0 ? 1800 : 1850; }  // at::native::add, F.softmax
        if (row.low === path || (spelled && !row.later && row.base === spelled)) { points = 0; }
        if (named.hasOwnProperty(row.low) && (points < 0 || points > 1900 + row.low.length)) { points = 1900 + row.low.length; }
        if (points < 0 && row.kind === "operator" && row.low.length > 4 && words.indexOf(row.low) >= 0) { points = 2400 + row.low.length; }
        if (points >= 0) { found.push([points + WEIGHT[row.kind] + (row.later || 0) - (row.reached ? 300 : 0), row]); }
      });
    });
    if (!found.length && inner) { return find(tail); }
    if (found.length < 3 && query.length > 3 && query.length < 40 && !words.length) {
      var most = query.length > 7 ? 2 : 1;
      (rows["0"] || []).forEach(function (row) {
        var part = row.low.split(/\.|::/).filter(function (p) { return p !== "torch" && p !== "aten"; });
        var far = Math.min(near(row.low, query, most), near(part[0] || "", query, most), near(part[part.length - 1] || "", query, most));
        if (far <= most) { found.push([7000 + far * 1000 + row.low.length + WEIGHT[row.kind], row]); }
      });
    }
    found.sort(function (a, b) { return a[0] - b[0] || (a[1].name < b[1].name ? -1 : 1); });
    var seen = {}, shown = [], guides = 0;
    found.forEach(function (pair) {
      var row = pair[1], far = /python|binding|node/.test(row.kind) ? row.to : "";
      var places = row.kind === "symbol" ? symbolPlaces(row).slice(0, asked ? 2 : 4) : [{ address: row.address(row), far: far }];
      places.forEach(function (place) {
        if (row.kind === "guide" && !seen[place.address + row.name] && ++guides > 6) { return; }  // pages that tell, then what is asked for
        if (shown.length < 14 && !seen[place.address + row.name]) { seen[place.address + row.name] = true; shown.push({ row: row, address: place.address, far: place.far, kind: place.kind || row.kind }); }
      });
    });
    return shown;
  }
  function mark(text, query) {
    var bold = document.createElement("b"), low = text.toLowerCase(), words = low.indexOf(query) < 0 && termsOf(query), at = 0;
    (words ? words.core.concat(words.backends) : [query]).map(function (word) { return [low.indexOf(word), word.length]; })
      .filter(function (pair) { return pair[0] >= 0; }).sort(function (p, q) { return p[0] - q[0]; }).forEach(function (pair) {
        if (pair[0] < at) { return; }
        bold.append(text.slice(at, pair[0]), make("mark", {}, text.substr(pair[0], pair[1]))); at = pair[0] + pair[1];
      });
    bold.append(text.slice(at));
    return bold;
  }
  function search() {
    if (!rows["0"]) { load("0", search); return; }
    var query = input.value.trim().toLowerCase().replace(/^aten::/, "").replace(/^torch\.ops\.aten\./, "");
    var brackets = /^[a-z_][\w.]*\[[^\[\]]*\](\s*=(?!=).*)?$/.exec(query);  // x[mask], x[1:] = y: Python's brackets are operators
    if (brackets) { query = brackets[1] ? "index_put_" : "index"; }
    load("files", again); load("kernels", again);
    shardsOf(query).forEach(function (key) { load("s-" + key, again); });
    list.textContent = ""; active = -1;
    if (!query) { close(); return; }
    hits = find(query);
    hits.forEach(function (hit, i) {
      var item = make("li", { id: "r" + i, role: "option", "aria-selected": "false", "data-to": hit.address });
      item.append(make("span", { class: "kind" }, hit.kind), mark(hit.row.name, query), make("span", { class: "far" }, hit.far));
      item.addEventListener("mousedown", function (event) { event.preventDefault(); go(i); });
      list.appendChild(item);
    });
    list.setAttribute("aria-busy", awaited ? "true" : "false");
    if (hits.length) { select(0); } else {
      list.appendChild(make("li", { class: "none", role: "option", "aria-disabled": "true" }, awaited ? "Looking through the whole index …" : "Nothing of that name in this atlas. It may exist in PyTorch and not be charted."));
    }
    list.hidden = false; input.setAttribute("aria-expanded", "true");
  }
  function again() { if (document.activeElement === input && input.value) { var kept = active; search(); if (kept > 0 && kept < hits.length) { select(kept); } } }
  function go(i) { location.href = base + hits[i].address; }
  function select(i) {
    var options = all("[role=option]", list);
    if (!hits.length) { return; }
    active = (i + hits.length) % hits.length;
    options.forEach(function (option, n) { option.setAttribute("aria-selected", n === active ? "true" : "false"); });
    input.setAttribute("aria-activedescendant", "r" + active);
    options[active].scrollIntoView({ block: "nearest" });
  }
  function close() { list.hidden = true; input.setAttribute("aria-expanded", "false"); input.removeAttribute("aria-activedescendant"); }
  if (input) {
    list = make("ul", { class: "results", id: "results", role: "listbox", "aria-label": "Search results", hidden: "" });
    input.placeholder = "add.Tensor, THPVariable_randn";
    input.parentNode.append(make("kbd", { "aria-hidden": "true" }, "/"), list);
    [["autocomplete", "off"], ["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", "results"], ["aria-autocomplete", "list"]].forEach(function (pair) { input.setAttribute(pair[0], pair[1]); });
    input.addEventListener("focus", function () { load("0", again); });
    input.addEventListener("input", search);
    input.addEventListener("blur", close);
    input.form.addEventListener("submit", function (event) { event.preventDefault(); if (active >= 0) { go(active); } });
    input.addEventListener("keydown", function (event) {
      if (event.key === "ArrowDown") { if (list.hidden) { search(); } else { select(active + 1); } event.preventDefault(); }
      if (event.key === "ArrowUp") { select(active - 1); event.preventDefault(); }
      if (event.key === "Escape") { if (list.hidden) { input.blur(); } else { close(); } }
    });
    var asked = /[?&]q=([^&]*)/.exec(location.search);
    if (asked && !document.getElementById("f-name")) { input.value = decodeURIComponent(asked[1].replace(/\+/g, " ")); input.focus(); search(); }
  }

  // Keys. None fires in a field or with a modifier.
  var waitingForFloor = false;
  document.addEventListener("keydown", function (event) {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (waitingForFloor && /^[1-8]$/.test(event.key)) {
      var floor = $(".gauge li:nth-child(" + event.key + ") a");
      location.href = floor ? floor.href : base + "index.html#floor-" + event.key;
    }
    waitingForFloor = event.key === "g";
    if ((event.key === "/" || event.key === "s") && input) { event.preventDefault(); input.focus(); input.select(); }
    if (event.key === "?") { showHelp(); }
    if (event.key === "t") { toggleTheme(); }
    if (event.key === "c" && document.activeElement && document.activeElement.matches('a[href^="https:"]')) { copy(placeOf(document.activeElement), document.activeElement); }
    var turn = { "[": "prev", "]": "next" }[event.key], link = turn && $('link[rel="' + turn + '"]');
    if (link) { location.href = link.href; }
  });

  // An anchor inside a closed <details> opens it.
  function openTarget() {
    var name = ""; try { name = decodeURIComponent(location.hash.slice(1)); } catch (e) { /* not ours */ }
    var target = name && document.getElementById(name), box = target && target.closest("details");
    if (box && !box.open) { box.open = true; target.scrollIntoView(); }
  }
  addEventListener("hashchange", openTarget); openTarget();

  // Version switcher: the folder above knows which releases have which pages. The same page, else the nearest above it.
  function script(address, done) {
    var element = make("script", { src: address });
    element.onload = element.onerror = done; document.head.append(element);
  }
  function partOf(page) {
    var names = page.split("/");
    return names[0] === "source" && names.length > 2 ? "source-" + names[1].toLowerCase().replace(/[^\p{L}\p{N}]/gu, "-") : names[0] === "op" ? "op" : "rest";
  }
  function releasesWith(page) {
    var cut = page.lastIndexOf("/"), folder = page.slice(0, Math.max(cut, 0)), name = page.slice(cut + 1), found = [];
    (window.ATLAS_PAGES[partOf(page)] || []).forEach(function (group) {
      if (group[1][folder] !== undefined && (" " + group[1][folder] + " ").indexOf(" " + name + " ") >= 0) { found = group[0]; }
    });
    return found;
  }
  function nearest(page) {  // from the page itself upwards
    var pages = [page], part = page.replace(/~\d+$/, ""), names = part.split("/");
    if (part !== page) { pages.push(part); }
    if (names[0] === "op") { return pages.concat("operators/index", "index"); }
    for (names.pop(); names.length; names.pop()) { pages.push(names.join("/") + "/index"); }
    return pages.concat("index");
  }
  var versions = $("details.versions");
  if (versions) {
    versions.addEventListener("toggle", function fill() {
      versions.removeEventListener("toggle", fill);
      var depth = base.length / 3, here = location.pathname.split("/").slice(-1 - depth).map(decodeURIComponent).join("/") || "index.html";
      here = here.replace(/\/$/, "/index.html").replace(/\.html$/, "");
      var pages = nearest(here), parts = {}, waiting = 1;
      pages.forEach(function (page) { parts[partOf(page)] = true; });
      function show() {
        if (--waiting || !window.ATLAS_RELEASES) { return; }
        var list = $("ul", versions), now = $("summary", versions).textContent, items = document.createDocumentFragment();
        window.ATLAS_RELEASES.forEach(function (tag, number) {
          var page = pages.filter(function (candidate) { return releasesWith(candidate).indexOf(number) >= 0; })[0] || "index";
          var item = make("li"), same = page === here;
          var link = make("a", { href: base + "../" + encodeURIComponent(tag) + "/" + page.split("/").map(encodeURIComponent).join("/") + ".html" + (same ? location.hash : "") }, tag);
          if (tag === now) { link.setAttribute("aria-current", "page"); }
          if (!same) { link.append(make("small", {}, page === "index" ? " no such page: the map" : " no such page: " + page.replace(/\/index$/, ""))); }
          item.append(link); items.append(item);
        });
        list.prepend(items);
      }
      script(base + "../releases.js", function () {
        var names = Object.keys(parts); waiting = names.length;
        if (!window.ATLAS_RELEASES) { return; }
        names.forEach(function (part) { script(base + "../pages/" + part + ".js", show); });
      });
    });
    versions.addEventListener("keydown", function (event) { if (event.key === "Escape") { versions.open = false; $("summary", versions).focus(); } });
  }

  // Gauge: fill the dot of the floor in view, where the page descends floor by floor.
  var floors = all("[data-floor], .descent > [id^=floor-]");
  if (floors.length && "IntersectionObserver" in window) {
    var watch = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        var item = $(".gauge li:nth-child(" + (entry.target.dataset.floor || entry.target.id.slice(6)) + ")");
        if (item) { item.classList.toggle("now", entry.isIntersecting); }
      });
    }, { rootMargin: "-45% 0px -45% 0px" });
    floors.forEach(function (floor) { watch.observe(floor); });
  }
})();
