import { needsTexts } from "../arguments.ts";
import type { Dep } from "./dep.ts";

/**
 * A function that sends `103 Early Hints` (RFC 8297): links that a browser may load while the handler still works. Each text is one
 * value of `Link` (RFC 8288 §3), in ASCII and with its `rel`, together at most 8,192 characters. Anything else throws a `TypeError`.
 * It may be called several times, until the answer is made; after that it changes nothing, and a warn line says so.
 *
 * `usher-http/node` sends them on Node, over HTTP/1.1 and HTTP/2. It sends none to a client of HTTP/1.0, nor to one that has not taken
 * what was sent before. On Bun, Deno and Workers, in `app.fetch` and in `Test.call` the function checks the links and sends nothing.
 * Browsers take them over HTTP/2, for a page that a person goes to. A WebSocket has none: `App.make` refuses such a route.
 *
 * @example
 * ```ts
 * const page = get(path, { inputs: { earlyHints }, returns: Returns.html }, async ({ earlyHints }) => {
 *   earlyHints(["</style.css>; rel=preload; as=style"]);
 *   return pageOf(await orders.list());
 * });
 * ```
 */
export const earlyHints: Dep<(links: readonly string[]) => void> = {
  node: {
    from: [],
    check: (_refusalFormat, { returns }) =>
      returns === "websocket" ? ["has earlyHints, and a WebSocket has none: remove that input"] : [],
    compile: () => (request) => (links: readonly string[]) => {
      checkLinks(links);
      request.sendEarlyHints(links);
    },
  },
};

/** Clients refuse a head of more than 16 KiB, and some of less. */
const maxLength = 8192;

/** `<target>; name=value; name="quoted"` in ASCII (RFC 8288 §3): the target of RFC 3986 §2, tokens and quoted texts of RFC 9110 §5.6. */
const link =
  /^<[!#-;=?-[\]_a-z~]*>(?:[ \t]*;[ \t]*[!#$%&'*+.^_`|~\w-]+(?:=(?:[!#$%&'*+.^_`|~\w-]+|"(?:[\t !#-[\]-~]|\\[\t -~])*"))?)*$/;

function checkLinks(links: readonly string[]): void {
  needsTexts("earlyHints: its links", links);
  const { length } = links.join("");
  if (length > maxLength)
    throw new TypeError(`earlyHints: its links have ${length} characters, and may have ${maxLength}`);
  for (const [i, text] of links.entries()) {
    const at = `earlyHints: link ${i + 1} of ${links.length}`;
    if (!link.test(text))
      throw new TypeError(
        `${at} is not a value of Link (RFC 8288 §3): write one link in ASCII, as "</a.css>; rel=preload; as=style"`,
      );
    // What is quoted may look like a parameter.
    if (!/;[ \t]*rel=/i.test(text.replace(/="(?:[^"\\]|\\.)*"/g, "=")))
      throw new TypeError(`${at} has no rel: write what it is for, as rel=preload`);
  }
}
