import { isNode } from "../http/addresses.ts";
import { Pairs, printPairs, readWord, token } from "../http/fields.ts";
import type { FieldScanner } from "../http/fields.ts";
import { elements } from "./codec.ts";
import type { Codec } from "./codec.ts";

/** The parameters that one proxy added to a request that it forwarded. */
export interface ForwardedElement {
  /** The address that sent it to the proxy; an IPv6 one in brackets, `unknown` or `_name`, with an optional port after `:`. */
  readonly for?: string;
  /** The proxy's own address that received it, in the same form. */
  readonly by?: string;
  /** The `Host` that the proxy received. */
  readonly host?: string;
  /** The scheme of the request, in lower case. */
  readonly proto?: string;
  /** Other parameters, with names in lower case. */
  readonly extensions: ReadonlyMap<string, string>;
}

const known = ["for", "by", "host", "proto"] as const;
// RFC 9110 §7.2 and RFC 3986 §3.2.2, §3.1.
const hostForm = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~!$&'()*+,;=%]+)(?::[0-9]*)?$/;
const schemeForm = /^[A-Za-z][A-Za-z0-9+.-]*$/;

function readElement(field: FieldScanner): ForwardedElement | undefined {
  const pairs = new Pairs();
  do {
    const name = field.match(token)?.toLowerCase();
    // RFC 7239 §4 lets a pair be empty: "for=_a;;proto=http".
    if (name === undefined) continue;
    if (!field.take("=")) return undefined;
    const value = readWord(field);
    if (value === undefined || !pairs.add(name, value)) return undefined;
  } while (field.take(";"));
  return elementOf(pairs.list);
}

/** Undefined where there are no pairs, or a known one is malformed. */
function elementOf(pairs: Pairs["list"]): ForwardedElement | undefined {
  const extensions = new Pairs();
  const element: { -readonly [Name in keyof ForwardedElement]: ForwardedElement[Name] } = {
    get extensions() {
      return extensions.map;
    },
  };
  for (const [name, value] of pairs) {
    if (name === "for" || name === "by") {
      if (!isNode(value)) return undefined;
      element[name] = value;
    } else if (name === "host") {
      if (!hostForm.test(value)) return undefined;
      element.host = value;
    } else if (name === "proto") {
      if (!schemeForm.test(value)) return undefined;
      element.proto = value.toLowerCase();
    } else {
      extensions.add(name, value);
    }
  }
  return pairs.length === 0 ? undefined : element;
}

function printElement(element: ForwardedElement): string | undefined {
  const pairs = new Map<string, string>();
  for (const name of known) {
    const value = element[name];
    if (value !== undefined) pairs.set(name, value);
  }
  for (const [name, value] of element.extensions) {
    // A reader would take it for the known parameter.
    if (known.some((one) => one === name.toLowerCase())) return undefined;
    pairs.set(name, value);
  }
  return elementOf([...pairs]) && printPairs(pairs)?.join(";");
}

/**
 * The elements of `Forwarded` (RFC 7239 §4), the client's own proxy first. No white space is allowed around `;` and `=`. A
 * repeated pair, an invalid address, or a port over 65535 is malformed.
 */
export const forwarded: Codec<readonly ForwardedElement[]> = /* @__PURE__ */ elements({
  expects: "a Forwarded value",
  least: 1,
  read: readElement,
  print: printElement,
});
