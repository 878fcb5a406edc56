const form = document.querySelector("form");
const outcome = document.querySelector("#outcome");
const list = document.querySelector("#messages");

// A browser connects again by itself, and the first event has all that is shown.
new EventSource("/messages").addEventListener("newest", ({ data }) => {
  list.replaceChildren(...JSON.parse(data).map(itemOf));
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const response = await fetch("/messages", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: form.elements.text.value }),
  });
  // Every error of the server has a message for people.
  outcome.textContent = response.ok ? "" : (await response.json()).message;
  if (response.ok) form.reset();
});

function itemOf({ text, sent_at }) {
  const item = document.createElement("li");
  // `textContent`, never `innerHTML`: the text is another person's.
  item.textContent = `${new Date(sent_at).toLocaleString()} ${text}`;
  return item;
}
