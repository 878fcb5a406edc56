/** Templates whose text is made by a test. */
import { html } from "usher-http";
import type { Html, HtmlValue } from "usher-http";

/** A template of these texts, with the values between them. */
export function templateOf(texts: readonly string[], values: readonly HtmlValue[]): Html {
  return html(Object.assign([...texts], { raw: texts }), ...values);
}

/** `<p title="${value}">`, of any tag and name, with other attributes before. */
export function withAttribute(
  tag: string,
  name: string,
  value: HtmlValue,
  around: readonly [string, string] = ["", ""],
): Html {
  const element = /^[\w:-]+/.exec(tag)?.[0] ?? "";
  const end = ["script", "iframe"].includes(element) ? `></${element}>` : ">";
  return templateOf([`<${tag} ${name}="${around[0]}`, `${around[1]}"${end}`], [value]);
}
