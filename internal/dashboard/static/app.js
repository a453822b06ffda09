// What a page can do beyond links and forms. Each page is complete without it.
(() => {
  "use strict";

  // Times in relative words stay true while a page is open.
  const words = (seconds) => {
    const past = seconds >= 0, n = Math.abs(seconds);
    if (n < 5) return "now";
    const text = n < 60 ? Math.floor(n) + " s" : n < 3600 ? Math.floor(n / 60) + " min"
      : n < 172800 ? Math.floor(n / 3600) + " h" : Math.floor(n / 86400) + " days";
    return past ? text + " ago" : "in " + text;
  };
  const tick = () => document.querySelectorAll("time[datetime]").forEach((t) => {
    const text = words((Date.now() - Date.parse(t.dateTime)) / 1000);
    if (t.textContent !== text) t.textContent = text;
  });
  setInterval(tick, 10000);

  // On a narrow screen the navigation scrolls: the page that is open is in sight.
  const here = document.querySelector(".nav [aria-current]");
  if (here) here.parentElement.scrollLeft = here.offsetLeft - (here.parentElement.clientWidth - here.offsetWidth) / 2;

  // Whether the page is live.
  const live = (on) => document.querySelectorAll(".live").forEach((e) => {
    e.classList.toggle("on", on);
    e.classList.toggle("off", !on);
    e.textContent = on ? "Live" : "Reconnecting";
  });
  document.addEventListener("htmx:sse:after:connection", () => live(true));
  // A session that has ended ends the streams. The page is loaded again, which leads to the login; where that would lose
  // what somebody has typed, there is a link, and the streams are opened again when he comes back from it.
  let out = false;
  const typed = () => [...document.querySelectorAll("main textarea, main input:not([type=hidden])")].some((f) =>
    f.type === "checkbox" ? f.checked !== f.defaultChecked : f.type === "file" ? f.files.length > 0 : f.value !== f.defaultValue);
  const signedOut = (place) => {
    if (!typed()) { location.reload(); return; }
    out = true;
    live(false);
    document.querySelectorAll(".live").forEach((e) => {
      const link = document.createElement("a");
      link.href = "login";
      link.target = "_blank";
      link.textContent = "Signed out: sign in again";
      e.replaceChildren(link);
    });
    addEventListener("focus", () => {
      out = false;
      if (place.isConnected) htmx.ajax("GET", place.getAttribute("hx-sse:connect"), { source: place });
    }, { once: true });
  };
  document.addEventListener("htmx:sse:before:connection", (e) => { e.detail.connection.cancelled = out; });
  document.addEventListener("htmx:sse:error", (e) => { if (e.detail.status === 401) signedOut(e.target); else live(false); });
  // A stream that could not be opened at all is opened later: hx-sse does so only after it was open.
  const waits = new WeakMap();
  const again = (e) => {
    const place = e.target, url = place.getAttribute && place.getAttribute("hx-sse:connect");
    if (!url) return;
    if (e.detail.ctx?.response?.status === 401) { signedOut(place); return; }
    live(false);
    const wait = Math.min((waits.get(place) || 1000) * 2, 60000);
    waits.set(place, wait);
    setTimeout(() => { if (place.isConnected) htmx.ajax("GET", url, { source: place }); }, wait * (0.7 + 0.6 * Math.random()));
  };
  document.addEventListener("htmx:response:error", again);
  document.addEventListener("htmx:error", again);
  document.addEventListener("htmx:sse:close", () => out || document.querySelectorAll(".live").forEach((e) => e.classList.remove("on", "off")));

  // A job that has ended: what is around the live part shows its end, too.
  document.addEventListener("ended", () => {
    if (document.querySelector("[data-reload]")) location.reload();
  });

  // "/" goes to the search of the page.
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    const field = document.querySelector("[data-find]");
    if (field) { e.preventDefault(); field.focus(); field.select(); }
  });

  // One box for all rows.
  document.addEventListener("change", (e) => {
    if (!e.target.matches("[data-all]")) return;
    document.querySelectorAll("input[name=id]").forEach((box) => { box.checked = e.target.checked; });
  });

  // A file may be dropped on its form.
  const drop = document.querySelector("[data-drop]");
  if (drop) {
    const input = drop.querySelector("input[type=file]");
    const over = (on) => (e) => { e.preventDefault(); drop.classList.toggle("over", on); };
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, over(true));
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, over(false));
    drop.addEventListener("drop", (e) => { if (e.dataTransfer.files.length) input.files = e.dataTransfer.files; });
  }

  // Files go up one after another, and their jobs are followed below the form; the address of the page keeps them. What is
  // refused of one file does not hold up the others. Without a session, the right or a connection all would be refused.
  const send = (form, file, sent) => new Promise((answer) => {
    const body = new FormData(), call = new XMLHttpRequest(), bar = form.querySelector("progress");
    const most = Number(form.dataset.most);
    const refuse = (why, all) => answer({ why: file.name + ": " + why.trim(), all });
    if (file.size > most * 1048576) { refuse("it is larger than " + most + " MiB. Use the API for it."); return; }
    body.append("set", form.elements.set.value);
    body.append("file", file);
    call.open("POST", form.action + "?" + sent);
    call.setRequestHeader("HX-Request", "true");
    call.upload.onprogress = (e) => { bar.value = e.lengthComputable ? 100 * e.loaded / e.total : 0; };
    call.onerror = () => refuse("the connection was lost. Send it again.", true);
    call.onload = () => call.status < 300 ? answer({ part: call.responseText })
      : refuse(call.responseText || "it was not accepted (" + call.status + ").", call.status === 401 || call.status === 403);
    call.send(body);
  });
  const form = document.querySelector("[data-upload]");
  if (form) {
    const input = form.elements.file, bar = form.querySelector("progress"), note = form.querySelector(".note");
    const place = document.getElementById("sent");
    const accept = (part, sent) => {
      place.innerHTML = part;
      htmx.process(place);
      sent.delete("job");
      for (const job of place.querySelectorAll("[data-job]")) sent.append("job", job.dataset.job);
      history.replaceState(null, "", location.pathname + "?" + new URLSearchParams([["set", form.elements.set.value], ...sent]));
    };
    const say = (lines) => {
      note.lastElementChild.replaceChildren(...lines.map((text) => {
        const line = document.createElement("p");
        line.className = "break";
        line.textContent = text;
        return line;
      }));
      note.hidden = lines.length === 0;
    };
    input.multiple = true;
    form.querySelector("label[for=file]").lastChild.data = " Choose files, or drop them here";
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      e.stopPropagation();
      const button = form.querySelector("button"), text = button.textContent;
      button.disabled = true;
      bar.hidden = false;
      say([]);
      const sent = new URLSearchParams([...new URLSearchParams(location.search)].filter(([k]) => k === "job"));
      const files = [...input.files], accepted = new Set(), refused = new Map();
      for (const file of files) {
        button.textContent = button.dataset.busy + (files.length > 1 ? " " + file.name : "");
        const { part, why, all } = await send(form, file, sent);
        if (why) refused.set(file, why); else { accept(part, sent); accepted.add(file); }
        if (all) break;
      }
      // The form keeps what was not accepted, first what was not tried.
      const kept = new DataTransfer(), rest = [...input.files].filter((file) => !accepted.has(file));
      for (const file of rest.sort((a, b) => refused.has(a) - refused.has(b))) kept.items.add(file);
      input.files = kept.files;
      const untried = files.length - accepted.size - refused.size;
      say([...refused.values(), ...untried ? ["Not sent: " + untried + (untried > 1 ? " more files." : " more file.")] : []]);
      bar.hidden = true;
      button.disabled = false;
      button.textContent = text;
    });
  }
  document.addEventListener("submit", (e) => {
    const button = e.target.querySelector("[data-busy]");
    if (button) setTimeout(() => { button.disabled = true; button.textContent = button.dataset.busy; }, 0);
  });
  addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
})();
