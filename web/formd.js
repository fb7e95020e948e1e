/* formd.js: one submission key for one filling of a form: a second click is no second message.
   On every <form data-formd> it writes the hidden fields _key (first in the form) and _page. The key is made when
   filling starts and kept in sessionStorage: clicks, reload and back keep it, a new visit makes another.
   It stops no form from being sent; without it forms work as well. */
(function () {
  "use strict";
  function fresh() {
    var bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.prototype.map.call(bytes, function (b) { return (b + 256).toString(16).slice(1); }).join("");
  }
  function hidden(form, name) {
    var input = form.querySelector('input[name="' + name + '"]');
    if (!input) {
      input = document.createElement("input");
      input.type = "hidden";
      input.name = name;
      form.insertBefore(input, form.firstChild);
    }
    return input;
  }
  function load(name) { try { return sessionStorage.getItem(name); } catch (e) { return null; } }
  function save(name, key) { try { sessionStorage.setItem(name, key); } catch (e) { /* the key lives as long as the page */ } }
  function prepare(form, place) {
    var name = "formd:" + location.pathname + ":" + place;
    var visit = (performance.getEntriesByType && performance.getEntriesByType("navigation")[0] || {}).type;
    var page = hidden(form, "_page"), field = hidden(form, "_key");
    if (!page.value) page.value = location.pathname;
    if (field.value) return; /* the server wrote one, or the browser restored it */
    field.value = visit === "navigate" ? "" : load(name) || "";
    function start() {
      if (field.value) return;
      field.value = fresh();
      save(name, field.value);
    }
    form.addEventListener("input", start);
    form.addEventListener("submit", start, true);
  }
  function all() { Array.prototype.forEach.call(document.querySelectorAll("form[data-formd]"), prepare); }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all); else all();
})();
