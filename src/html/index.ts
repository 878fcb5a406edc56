import { needs, needsText } from "../arguments.ts";
import { InvalidAnswerError } from "../refusals.ts";
import { Html } from "./html.ts";

/**
 * HTML of a text that is HTML already, without any check: what a Markdown library or a sanitizer made, or a file of icons. Text of
 * a user in it is code in your users' browsers (XSS). Nothing else puts unescaped text into a page.
 */
export function trusted(text: string): Html {
  needsText("Html.trusted: its text", text);
  return new Html(text);
}

/**
 * A value as JSON, for the scripts of a page: in `<script type="application/json">` or in an attribute `data-…`. It is written without
 * `<`, `>`, `&` and `{{`, so it can end neither.
 *
 * @throws Error for a value that JSON cannot write: `undefined`, a function, a `bigint`, a cycle.
 *
 * @example
 * ```ts
 * html`<script type="application/json" id="orders">${Html.json(orders)}</script>`;
 * // In a script file: JSON.parse(document.getElementById("orders").textContent)
 * ```
 */
export function json(value: unknown): Html {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new InvalidAnswerError("Html.json of a value that JSON cannot write");
  return new Html(text.replace(/[<>&\u2028\u2029]|\{(?=\{)/g, escapeOf), true);
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * The text of HTML, once every promise and list in it is ready: for a mail, a test, or a page that is sent whole.
 *
 * @throws What a promise or a list in it rejects with.
 */
export async function text(html: Html): Promise<string> {
  needs(Html.contentOf(html) !== undefined, "Html.text: its html", html, "made by html`…`");
  const body = html.toBody();
  if (typeof body === "string") return body;
  const decoder = new TextDecoder();
  let whole = "";
  for await (const part of body) whole += decoder.decode(part, { stream: true });
  return whole + decoder.decode();
}
