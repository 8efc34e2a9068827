// The page works without this. With it, the examples hold this server's address and the reader's own test key, can be copied, and the
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
  pagination: "starting_after", sandbox: "test mode", save: "store", saved: "store", vault: "payment_method", wallet: "network_token",
};
const search = document.getElementById("search");
const found = document.getElementById("found");
const nothing = document.getElementById("nothing");
const articles = all("main article");
const words = articles.map((a) => a.textContent.toLowerCase());
search.addEventListener("input", () => {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text, w) => text.includes(w) || (Object.hasOwn(synonyms, w) && text.includes(synonyms[w]));
  articles.forEach((a, i) => { a.hidden = !wanted.every((w) => has(words[i], w)); });
  for (const s of all("main > section")) s.hidden = wanted.length > 0 && !s.querySelector("article:not([hidden])");
  for (const link of all("nav a")) {
    const target = document.getElementById(link.hash.slice(1));
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
});
document.getElementById("all").addEventListener("click", () => { search.value = ""; search.dispatchEvent(new Event("input")); search.focus(); });
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
