// Sets a password with the secret of a single-use link. The secret stands behind the # of the address, which no
// server and no log ever sees; it leaves the address bar at once and the page only in the one request it is for.
"use strict";

const form = document.getElementById("form");
const message = document.getElementById("message");
const password = document.getElementById("password");
const again = document.getElementById("again");
const button = form.querySelector("button");
const token = new URLSearchParams(window.location.hash.slice(1)).get("token");

// The language that the invitation was written in, else that of the browser.
const language = new URLSearchParams(window.location.search).get("language") ?? navigator.language;

/** The words of the page in a language; null if there are none. */
async function loadWords(tag) {
  if (!/^[a-z]{2,3}$/.test(tag)) return null;
  const file = await fetch(`pages/${tag}.json`);
  return file.ok ? (await file.json()).password : null;
}

let words = {};

async function showWords() {
  const tag = language.toLowerCase().split(/[-_]/)[0];
  const wanted = tag === "en" ? null : await loadWords(tag);
  words = wanted ?? (await loadWords("en")) ?? {};
  // The page itself is in English.
  if (!wanted) return;
  document.documentElement.lang = tag;
  document.title = `${words.title} · Perigee`;
  for (const element of document.querySelectorAll("[data-word]")) {
    element.textContent = words[element.dataset.word];
  }
}

function tell(text, kind) {
  message.textContent = text ?? "Something went wrong. Reload the page.";
  message.className = `message ${kind}`;
  message.hidden = false;
}

function checkSame() {
  const differs = again.value !== "" && again.value !== password.value;
  again.setCustomValidity(differs ? words.differ : "");
}

async function setPassword() {
  const answer = await fetch("api/session/passwordReset", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    credentials: "same-origin",
    body: JSON.stringify({ token, newPassword: password.value }),
  });
  if (answer.ok) {
    const { signedIn } = await answer.json().catch(() => ({}));
    form.hidden = true;
    tell(signedIn ? words.signedIn : words.signIn, "done");
    // The console is at the root of the service, beside this page.
    if (signedIn) window.location.replace("./");
    return;
  }
  const { error } = await answer.json().catch(() => ({}));
  tell(error ?? words.failed, "problem");
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  try {
    await setPassword();
  } catch {
    tell(words.unreachable, "problem");
  } finally {
    button.disabled = false;
  }
});

password.addEventListener("input", checkSame);
again.addEventListener("input", checkSame);
document.getElementById("show").addEventListener("change", (event) => {
  password.type = again.type = event.target.checked ? "text" : "password";
});

async function begin() {
  if (token) window.history.replaceState(null, "", window.location.pathname);
  // Without the words of its language the page is usable in English.
  await showWords().catch(() => undefined);
  if (token) {
    form.hidden = false;
    password.focus();
  } else {
    tell(words.incomplete, "problem");
  }
}

begin();
