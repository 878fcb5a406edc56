/** Errors as the runtimes make them, by what was done. The addresses are of servers that the test holds. */
import { raisedCodes } from "../../src/logging/raised.ts";

/** Ports of this machine. */
export interface Ports {
  /** Where nothing listens. */
  readonly none: string;
  /** Which accepts, and answers nothing. */
  readonly silent: string;
  /** Which closes each connection once it has read something. */
  readonly closing: string;
  /** Which answers what is no HTTP. */
  readonly junk: string;
  /** Which ends in the middle of a body. */
  readonly cut: string;
}

const cases: { readonly [what: string]: (ports: Ports) => unknown } = {
  "a refused connection": ({ none }) => fetch(`http://127.0.0.1:${none}/`),
  "one refused of two": ({ none }) =>
    Promise.any([Promise.reject(new Error("s3cret")), fetch(`http://127.0.0.1:${none}/`)]),
  "a port that fetch blocks": () => fetch("http://127.0.0.1:1/"),
  "a wrong URL": () => fetch("http://s3cret:x/"),
  "a time limit": ({ silent }) => fetch(`http://127.0.0.1:${silent}/`, { signal: AbortSignal.timeout(50) }),
  "an abort": ({ silent }) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    return fetch(`http://127.0.0.1:${silent}/`, { signal: controller.signal });
  },
  "a connection that is closed": ({ closing }) => fetch(`http://127.0.0.1:${closing}/`),
  "a response that is no HTTP": ({ junk }) => fetch(`http://127.0.0.1:${junk}/`),
  "a body that is cut": async ({ cut }) => (await fetch(`http://127.0.0.1:${cut}/`)).text(),
  "TLS where none is spoken": ({ junk }) => fetch(`https://127.0.0.1:${junk}/`),
  "a body that was read already": async () => {
    const response = new Response("s3cret");
    await response.text();
    return response.text();
  },
  "no JSON": () => new Response("{s3cret").json(),
  "a text that is no URL": () => new URL("//s3cret"),
  "a value that cannot be cloned": () => structuredClone(() => "s3cret"),
  "text that is no base64": () => atob("%s3cret"),
  "bytes that are no gzip": () =>
    new Response(new Blob(["s3cret"]).stream().pipeThrough(new DecompressionStream("gzip"))).text(),
  "a key of a wrong length": () => crypto.subtle.importKey("raw", new Uint8Array(3), "AES-GCM", false, ["encrypt"]),
  "bytes that are no UTF-8": () => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])),
};

/** What the log has of each: its kind and code, and those of its cause. */
export async function logged(ports: Ports): Promise<{ readonly [what: string]: string }> {
  const found: { [what: string]: string } = {};
  for (const [what, act] of Object.entries(cases)) {
    try {
      await act(ports);
      found[what] = "nothing";
    } catch (thrown) {
      const { "error.kind": kind, "error.code": code, ...cause } = raisedCodes(thrown);
      const of = [kind, code, cause["error.cause.kind"], cause["error.cause.code"]];
      found[what] = of.map((text) => text ?? "-").join(" ");
    }
  }
  return found;
}
