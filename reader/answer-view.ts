/** A response: its status, headers and body. A stream is shown as it arrives. */
import { counted } from "./counted.ts";
import { EventReader } from "../src/events/event-reader.ts";
import { copyButton, h } from "./dom.ts";

/** Past it the body is cut: a page is no place for more. */
const maxBytes = 5_000_000;
const maxEvents = 200;
/** A longer JSON text is shown as it was sent. */
const maxPretty = 500_000;
const maxDepth = 100;

/** Shows the answer in the box, until its body ends or the signal aborts. */
export async function showAnswer(box: HTMLElement, response: Response, ms: number): Promise<void> {
  const type = response.headers.get("content-type") ?? "";
  const headers = [...response.headers].map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", {}, value)));
  const size = h("span");
  box.append(
    h(
      "p",
      { class: "outcome" },
      h("strong", { class: statusClass(response.status) }, `${response.status} ${response.statusText}`.trim()),
      h("span", {}, `${Math.round(ms)} ms`),
      size,
    ),
    response.redirected ? h("p", { class: "hint" }, `Redirected to ${response.url}`) : "",
    h("details", {}, h("summary", {}, `Headers (${headers.length})`), h("table", {}, ...headers)),
  );
  if (response.body === null) return;
  if (/^text\/event-stream\b/.test(type)) await showEvents(box, response.body);
  else await showBody(box, response, type, (bytes) => (size.textContent = sizeText(bytes)));
}

export function statusClass(status: number | string): string {
  return `status s${String(status)[0] ?? ""}`;
}

function sizeText(bytes: number): string {
  return bytes < 1000
    ? counted(bytes, "byte")
    : bytes < 1_000_000
      ? `${(bytes / 1000).toFixed(1)} kB`
      : `${(bytes / 1e6).toFixed(1)} MB`;
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      yield read.value as Uint8Array<ArrayBuffer>;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function showBody(box: HTMLElement, response: Response, type: string, onSize: (bytes: number) => void) {
  const isText =
    !type.startsWith("image/") &&
    /^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded|x-ndjson|jsonl)\b/.test(type);
  const shown = h("pre", { class: "code", tabindex: "0", "aria-label": "The response's body" });
  const decoder = new TextDecoder();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(response.body as ReadableStream<Uint8Array>)) {
    if (bytes === 0 && isText) box.append(shown);
    chunks.push(chunk);
    bytes += chunk.length;
    onSize(bytes);
    if (isText) shown.append(decoder.decode(chunk, { stream: true }));
    if (bytes > maxBytes) {
      box.append(h("p", { class: "hint" }, `Cut after ${sizeText(bytes)}.`));
      break;
    }
  }
  if (bytes === 0) box.append(h("p", { class: "hint" }, "No body."));
  else if (isText) endText(box, shown, decoder.decode(), /[/+]json\b/.test(type) && bytes < maxPretty);
  else showBlob(box, new Blob(chunks, { type }), type);
}

function endText(box: HTMLElement, shown: HTMLElement, rest: string, isPainted: boolean): void {
  shown.append(rest);
  if (isPainted) paint(shown);
  box.append(
    h(
      "p",
      { class: "buttons small" },
      copyButton("Copy", () => shown.textContent ?? ""),
    ),
  );
}

function showBlob(box: HTMLElement, blob: Blob, type: string): void {
  const url = URL.createObjectURL(blob);
  // An SVG may have scripts, which an image does not run.
  if (type.startsWith("image/")) {
    const image = h("img");
    image.alt = "The response";
    image.src = url;
    box.append(image);
  }
  const save = h("a", {}, `Save ${sizeText(blob.size)}${type === "" ? "" : ` of ${type}`}`);
  save.href = url;
  save.download = "response";
  box.append(h("p", {}, save));
}

const jsonToken = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Indents a JSON text and colors it. Any other text is left as it was sent. */
function paint(shown: HTMLElement): void {
  let text: string;
  try {
    // Numbers keep their digits: only what is between tokens changes.
    text = indented(shown.textContent ?? "");
  } catch {
    return;
  }
  shown.replaceChildren();
  let from = 0;
  for (const found of text.matchAll(jsonToken)) {
    const [whole, string, colon] = found;
    shown.append(text.slice(from, found.index));
    from = found.index + whole.length;
    const kind = colon !== undefined ? "key" : string !== undefined ? "text" : "word";
    shown.append(h("span", { class: `j-${kind}` }, string ?? whole), colon ?? "");
  }
  shown.append(text.slice(from));
}

/** As `JSON.stringify(value, undefined, 2)`, but an integer past 2^53 keeps its digits. */
function indented(text: string): string {
  JSON.parse(text);
  let [out, depth] = ["", 0];
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === "{" || token === "[") {
      if (++depth > maxDepth) throw new Error("too deep to indent");
      out += token + line();
    } else if (token === "}" || token === "]") {
      depth--;
      out = /[{[]\s*$/.test(out.slice(-2 - 2 * depth - 2)) ? out.trimEnd() + token : out + line() + token;
    } else out += token === "," ? token + line() : token === ":" ? ": " : token;
  }
  return out;
}

async function showEvents(box: HTMLElement, body: ReadableStream<Uint8Array>): Promise<void> {
  const list = h("ol", { class: "events", tabindex: "0", "aria-label": "The events" });
  const count = h("p", { class: "hint", role: "status" }, "Open: no event yet.");
  box.append(count, list);
  const reader = new EventReader();
  let total = 0;
  try {
    for await (const chunk of chunksOf(body)) {
      for (const { name, id, data } of reader.feed(chunk)) {
        total++;
        list.append(logged(name, id === undefined ? "" : `id ${id}`, data));
        if (list.childElementCount > maxEvents) list.firstElementChild?.remove();
      }
      count.textContent = `Open: ${counted(total, "event")}.`;
    }
  } finally {
    count.textContent = `Closed after ${counted(total, "event")}.`;
  }
}

/** A line of a log: an event, or a message of a socket. */
export function logged(name: string, note: string, data: string): HTMLElement {
  const shown = h("pre", { class: "code" }, data.slice(0, maxPretty));
  if (data.length < maxPretty && /^\s*[[{]/.test(data)) paint(shown);
  return h("li", {}, h("p", {}, h("strong", {}, name), h("span", { class: "hint" }, note)), shown);
}
