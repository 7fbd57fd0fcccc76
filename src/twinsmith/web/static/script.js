// The console without this script can be read and used; with it, pages live and keys work.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Live parts: the server sends those that changed, whole, so nothing is ever shown twice. What comes
// while somebody types in a part waits until they leave it.
const held = new Map();
function patch({ id, html }) {
  const place = document.getElementById(id);
  if (!place) return;
  const typed = place.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  const dirty = all("input:not([type=hidden]), textarea", place).some((each) => each.value !== each.defaultValue);
  if (typed || dirty) { held.set(id, html); return; }
  held.delete(id);
  const open = new Map(all("details[id]", place).map((each) => [each.id, each.open]));
  const scrolled = new Map(all("[id].log", place).map((each) => [each.id, [each.scrollTop, each.scrollTop + each.clientHeight >= each.scrollHeight - 4]]));
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  const here = one("tr.here a[href]", place)?.getAttribute("href");
  const inside = document.createElement("template");
  inside.innerHTML = html;
  place.replaceChildren(inside.content);
  open.forEach((value, name) => { const each = document.getElementById(name); if (each) each.open = value; });
  scrolled.forEach(([top, atEnd], name) => { const each = document.getElementById(name); if (each) each.scrollTop = atEnd ? each.scrollHeight : top; });
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  if (here) all("tr", place).find((row) => one("a[href]", row)?.getAttribute("href") === here)?.classList.add("here");
  dress(place);
}

function follow(address) {
  const told = document.getElementById("connection");
  let source;
  const begin = () => {
    source = new EventSource(address);
    source.addEventListener("patch", (event) => patch(JSON.parse(event.data)));
    source.addEventListener("over", () => { source.close(); told.textContent = "You are signed out, or may no longer do the same: load this page again."; told.hidden = false; });
    source.addEventListener("open", () => { told.hidden = true; });
    source.addEventListener("error", () => {
      told.hidden = false;
      // A browser gives up on an answer that is no stream: ask again, for as long as the page is open.
      if (source.readyState === EventSource.CLOSED) setTimeout(begin, 3000);
    });
  };
  begin();
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) begin(); });
}

// Times go on by themselves; identifiers are copied whole.
function span(seconds) {
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) if (seconds >= 2 * size) return `${Math.round(seconds / size)} ${unit}`;
  return `${Math.round(seconds)} s`;
}
function tick() {
  all("time[datetime]").forEach((each) => {
    const gone = (Date.now() - Date.parse(each.dateTime)) / 1000;
    const words = Math.abs(gone) < 2 ? "now" : gone > 0 ? `${span(gone)} ago` : `in ${span(-gone)}`;
    if (each.textContent !== words) each.textContent = words;
  });
}
function dress(within) {
  all("[data-copy]", within).forEach((each) => each.addEventListener("copy", (event) => {
    event.clipboardData.setData("text/plain", each.dataset.copy);
    event.preventDefault();
  }));
  // On a phone the rail scrolls: the page that is shown has to be seen in it.
  one(".rail [aria-current]", within)?.scrollIntoView({ block: "nearest", inline: "center" });
  all("select[data-submit]", within).forEach((each) => each.addEventListener("change", () => each.form.requestSubmit()));
}

// Keys: j and k move through the rows of a list, g and a letter goes to a page.
let going = false;
function move(step) {
  const rows = all("main tbody tr").filter((row) => one("a[href]", row));
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.classList.contains("here"));
  rows[at]?.classList.remove("here");
  const next = rows[Math.min(Math.max(at + step, 0), rows.length - 1)];
  next.classList.add("here");
  next.scrollIntoView({ block: "nearest" });
}
function unfold(key) {
  const summary = one(`main summary[data-key="${key}"]`);
  if (!summary) return;
  summary.parentElement.open = true;
  (one("input:not([type=hidden]), button", summary.parentElement) ?? summary).focus();
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "Escape") { all("details.deed[open], details.menu[open]").forEach((each) => { each.open = false; }); event.target.blur(); return; }
  if (typing || document.getElementById("keys")?.open) return;
  if (going) {
    going = false;
    const link = one(`.rail a[data-go="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); location.assign(link.href); }
    return;
  }
  const deeds = {
    "/": () => document.getElementById("search")?.focus(),
    "?": () => document.getElementById("keys")?.showModal(),
    g: () => { going = true; setTimeout(() => { going = false; }, 1500); },
    j: () => move(1),
    k: () => move(-1),
    n: () => location.assign("/runs/new"),
    a: () => unfold("a"),
    r: () => unfold("r"),
    Enter: () => one("tr.here a[href]")?.click(),
  };
  const deed = deeds[event.key];
  if (!deed || (event.key === "Enter" && !one("tr.here"))) return;
  if (event.key === "Enter" && event.target.matches("a, button, summary")) return;
  event.preventDefault();
  deed();
});

addEventListener("DOMContentLoaded", () => {
  dress(document);
  setInterval(tick, 1000);
  if (document.body.dataset.live) follow(document.body.dataset.live);
  addEventListener("focusout", () => setTimeout(() => held.forEach((html, id) => patch({ id, html }))));
});
