// Sets a password with the secret of a single-use link. The secret stands behind the # of the address, which no
// server and no log ever sees; it leaves the address bar at once and the page only in the one request it is for.
"use strict";

const form = document.getElementById("form");
const message = document.getElementById("message");
const password = document.getElementById("password");
const again = document.getElementById("again");
const button = form.querySelector("button");
const token = new URLSearchParams(window.location.hash.slice(1)).get("token");

const english = {
  title: "Choose a password",
  password: "New password",
  hint: "10 to 128 characters. A few words you can remember are better than signs you cannot.",
  again: "Repeat the password",
  show: "Show what I type",
  set: "Set the password",
  differ: "The two passwords differ.",
  signedIn: "Your password is set. You are signed in.",
  signIn: "Your password is set. You can sign in with it now.",
  failed: "The password could not be set. Try again in a moment.",
  unreachable: "The server cannot be reached. Check your connection and try again.",
  incomplete:
    "This address is not complete. Open the whole link you were given; if it was used before, ask for a new one.",
};
const spanish = {
  title: "Elija una contraseña",
  password: "Contraseña nueva",
  hint: "De 10 a 128 caracteres. Unas palabras que recuerde son mejores que signos que no.",
  again: "Otra vez la misma",
  show: "Mostrar lo que escribo",
  set: "Guardar la contraseña",
  differ: "Las dos contraseñas no coinciden.",
  signedIn: "Su contraseña está guardada. Ha iniciado sesión.",
  signIn: "Su contraseña está guardada. Ya puede iniciar sesión con ella.",
  failed: "No se ha podido guardar la contraseña. Inténtelo de nuevo en un momento.",
  unreachable: "No se puede contactar con el servidor. Compruebe su conexión e inténtelo de nuevo.",
  incomplete: "Esta dirección no está completa. Abra entero el enlace recibido; si ya se usó, pida otro.",
};
// The language that the invitation was written in, else that of the browser.
const language = new URLSearchParams(window.location.search).get("language") ?? navigator.language;
const isSpanish = language.toLowerCase().startsWith("es");
const words = isSpanish ? spanish : english;
if (isSpanish) {
  document.documentElement.lang = "es";
  document.title = `${words.title} · Perigee`;
  for (const element of document.querySelectorAll("[data-word]")) {
    element.textContent = words[element.dataset.word];
  }
}

function tell(text, kind) {
  message.textContent = text;
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

if (token) {
  window.history.replaceState(null, "", window.location.pathname);
  form.hidden = false;
  password.focus();
} else {
  tell(words.incomplete, "problem");
}
