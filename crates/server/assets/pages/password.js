// Sets a password with the secret of a single-use link. The secret stands behind the # of the address, which no
// server and no log ever sees; it leaves the address bar at once and the page only in the one request it is for.
"use strict";

const form = document.getElementById("form");
const message = document.getElementById("message");
const password = document.getElementById("password");
const again = document.getElementById("again");
const button = form.querySelector("button");
const token = new URLSearchParams(window.location.hash.slice(1)).get("token");

function tell(text, kind) {
  message.textContent = text;
  message.className = `message ${kind}`;
  message.hidden = false;
}

function checkSame() {
  const differs = again.value !== "" && again.value !== password.value;
  again.setCustomValidity(differs ? "The two passwords differ." : "");
}

async function setPassword() {
  const answer = await fetch("api/session/passwordReset", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    credentials: "omit",
    body: JSON.stringify({ token, newPassword: password.value }),
  });
  if (answer.ok) {
    form.hidden = true;
    tell("Your password is set. You can sign in with it now.", "done");
    return;
  }
  const { error } = await answer.json().catch(() => ({}));
  tell(error ?? "The password could not be set. Try again in a moment.", "problem");
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  try {
    await setPassword();
  } catch {
    tell("The server cannot be reached. Check your connection and try again.", "problem");
  } finally {
    button.disabled = false;
  }
});

password.addEventListener("input", checkSame);
again.addEventListener("input", checkSame);
document.getElementById("show").addEventListener("change", (event) => {
  password.type = again.type = event.target.checked ? "text" : "password";
});

if (token) {
  window.history.replaceState(null, "", window.location.pathname);
  form.hidden = false;
  password.focus();
} else {
  tell("This address is not complete. Open the whole link you were given; if it was used before, ask for a new one.", "problem");
}
