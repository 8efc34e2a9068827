// The pages work without this. With it, the examples hold this server's address and the reader's own test key, can be copied, and the
// contents can be searched. The key stays in this page's memory: nothing is stored and nothing is sent.
"use strict";

const all = (selector) => [...document.querySelectorAll(selector)];

for (const e of all(".origin")) e.textContent = location.origin;

const key = document.getElementById("key");
const keyNote = document.getElementById("key-note");
const hint = keyNote.textContent;
key.addEventListener("input", () => {
  const typed = key.value.trim();
  const usable = /^[sp]k_test_[0-9A-Za-z]+$/.test(typed);
  for (const e of all(".key")) e.textContent = usable ? typed : "sk_test_…";
  const live = /^[sp]k_live_/.test(typed);
  if (live) key.value = "";
  keyNote.textContent = live ? "That was a live key. Use a test key here." : usable ? "The examples below hold this key." : hint;
});

// Words of other payment services, and the words for the same here.
const synonyms = {
  "3ds": "three_d_secure", "3-d": "three_d_secure", sca: "three_d_secure", ach: "bank_account", cancel: "void", charge: "payment",
  chargeback: "refund", cors: "access-control", cvv: "cvc", echeck: "bank_account", jwe: "mle", pan: "card number", paginate: "starting_after",
  pagination: "starting_after", partial: "part", sandbox: "test mode", save: "store", saved: "store", vault: "payment_method", wallet: "network_token",
};
const search = document.getElementById("search");
const found = document.getElementById("found");
const nothing = document.getElementById("nothing");
const articles = all("main article");
const errors = all("#errors tbody tr");
const text = (e) => (e.textContent + " " + (e.dataset.words ?? "")).toLowerCase(); // of a guide, also the words of its page
const words = new Map([...articles, ...errors].map((e) => [e, text(e)]));
const showFound = () => {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text, w) => text.includes(w) || (Object.hasOwn(synonyms, w) && text.includes(synonyms[w]));
  const matches = (e) => wanted.every((w) => has(words.get(e), w));
  for (const a of articles) a.hidden = !matches(a);
  const lines = errors.filter(matches); // if there are some, only these
  for (const e of errors) e.hidden = lines.length > 0 && !lines.includes(e);
  for (const s of all("main > section")) s.hidden = wanted.length > 0 && !s.querySelector("article:not([hidden])");
  for (const link of all("nav a")) {
    const target = document.getElementById(link.dataset.entry ?? link.hash.slice(1));
    link.parentElement.hidden = !target || target.hidden || target.closest("section").hidden;
  }
  for (const list of all("nav ul")) { // with its heading, if it has one
    list.hidden = !list.querySelector("li:not([hidden])");
    const heading = document.getElementById(list.getAttribute("aria-labelledby"));
    if (heading) heading.hidden = list.hidden;
  }
  const count = articles.filter((a) => !a.hidden).length;
  nothing.hidden = count > 0;
  found.textContent = wanted.length === 0 ? "" : count === 1 ? "1 entry" : count + " entries";
};
if (nothing) {
  search.addEventListener("input", showFound);
  document.getElementById("all").addEventListener("click", () => { search.value = ""; showFound(); search.focus(); });
  search.value = new URLSearchParams(location.search).get("q") ?? search.value;
  showFound();
} else { // a guide: its search leads to the entries
  search.addEventListener("input", () => { found.textContent = search.value.trim() ? "Press Enter to search all pages." : ""; });
  search.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && search.value.trim()) location.href = "/docs?q=" + encodeURIComponent(search.value.trim());
  });
}
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); search.focus(); }
  if (e.key === "Escape" && document.activeElement === search) { search.value = ""; search.dispatchEvent(new Event("input")); }
});
// A link into what the search hides shows it again.
addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || !target.closest("[hidden]")) return;
  search.value = "";
  search.dispatchEvent(new Event("input"));
  target.scrollIntoView();
});

for (const pre of all("pre.copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy: " + pre.getAttribute("aria-label"));
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch { // no clipboard over plain HTTP from another host: select it, for Ctrl-C
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const sample = document.createElement("div");
  sample.className = "sample";
  pre.replaceWith(sample);
  sample.append(pre, button);
}
document.documentElement.classList.add("script");
