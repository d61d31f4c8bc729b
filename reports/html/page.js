// Filters the findings and tables, and opens what a link points into. Without it everything is shown.
"use strict";
(() => {
  const page = document.documentElement;
  page.classList.add("live");
  const form = document.getElementById("filter");
  const search = document.getElementById("search");
  const section = document.getElementById("section");
  const shown = document.getElementById("shown");
  // Of a long list the first ones: to lay out ten thousand rows takes a browser seconds.
  const first = 300;
  const chips = [...form.querySelectorAll("button[data-v]")];
  const lists = [...document.querySelectorAll("section")].map((part) => ({
    part,
    count: part.querySelector("h2 .count"),
    items: [...part.querySelectorAll("[data-v]:not(a)")].map((item) => ({
      item,
      verdict: item.dataset.v,
      sections: item.dataset.s?.split(" "),
      text: null,
    })),
    limit: first,
    more: null,
  })).filter((list) => list.items.length > 0);

  function offer(list, count) {
    if (!list.more && count > 0) {
      list.more = document.createElement("p");
      list.more.className = "more";
      const button = list.more.appendChild(document.createElement("button"));
      button.type = "button";
      button.addEventListener("click", () => {
        list.limit = Infinity;
        show();
      });
      list.part.append(list.more);
    }
    if (!list.more) return;
    list.more.hidden = count <= 0;
    if (count > 0) list.more.firstChild.textContent = `Show ${count} more`;
  }

  function show() {
    const wanted = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.v);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const summary = [];
    for (const list of lists) {
      let fitting = 0;
      for (const one of list.items) {
        if (words.length > 0 && one.text === null) one.text = one.item.textContent.toLowerCase();
        const fits = (wanted.length === 0 || wanted.includes(one.verdict)) &&
          (section.value === "" || one.sections === undefined || one.sections.includes(section.value)) &&
          words.every((word) => one.text.includes(word));
        const isHidden = !fits || fitting >= list.limit;
        // A browser computes the style of all that is written to, also of what stays as it was.
        if (one.item.hidden !== isHidden) one.item.hidden = isHidden;
        if (fits) fitting += 1;
      }
      offer(list, fitting - list.limit);
      list.count.textContent = `${fitting} of ${list.items.length}`;
      summary.push(`${fitting} of ${list.items.length} ${list.part.id}`);
    }
    shown.textContent = summary.join(", ");
  }

  function limit(to) {
    for (const list of lists) list.limit = to;
    show();
  }
  const apply = () => limit(first);

  function press(verdicts) {
    for (const chip of chips) chip.setAttribute("aria-pressed", String(verdicts.includes(chip.dataset.v)));
  }

  for (const chip of chips) chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    apply();
  });
  search.addEventListener("input", apply);
  section.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  function showAll() {
    form.reset();
    press([]);
    apply();
  }
  document.getElementById("all").addEventListener("click", showAll);

  for (const part of document.querySelectorAll("svg.coverage a")) part.addEventListener("click", () => {
    section.value = part.dataset.s;
    search.value = "";
    press([]);
    // A verdict that only requirements have has no button; the section is filter enough then.
    if (chips.some((chip) => chip.dataset.v === part.dataset.v)) press([part.dataset.v]);
    apply();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      search.focus();
    }
    if (event.key === "Escape" && document.activeElement === search) showAll();
  });

  // What a link points at is shown, whatever the filter says.
  function follow() {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    if (!target) return;
    if (target.hidden) showAll();
    if (target.hidden) limit(Infinity);
    target.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  // A link to where one is already changes no hash.
  for (const link of document.querySelectorAll("a[href^='#']")) link.addEventListener("click", () => setTimeout(follow));

  for (const button of document.querySelectorAll("button.copy")) button.addEventListener("click", async () => {
    const code = button.previousElementSibling;
    getSelection().selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    }
  });

  // Paper shows the headers that are open, and all that is told of a finding.
  let opened = [], limits = [];
  addEventListener("beforeprint", () => {
    limits = lists.map((list) => list.limit);
    limit(Infinity);
    opened = [...document.querySelectorAll("article.finding:not([hidden]) details:not([open]):not(.layer)")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    lists.forEach((list, i) => { list.limit = limits[i]; });
    show();
  });

  apply();
  follow();
})();
