// Before the first paint: the theme the reader chose, and that scripts run.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  try { var theme = localStorage.getItem("atlas-theme"); if (theme) { root.dataset.theme = theme; } } catch (e) { /* private window */ }
})();
