/** Whose a session is: of the credentials that opened it. */
import type { RequestState } from "../../src/app/request.ts";
import { encodeHex } from "../../src/http/bytes.ts";
import { certificateOf } from "../../src/inputs/peer-certificate.ts";
import type { AnyDep, DepNode } from "../../src/inputs/dep.ts";

/** Tells the owners of a server's sessions apart. */
export class Owners {
  readonly #carriers: readonly Carrier[];

  /** @param inputs Those of the server and of the routes that it calls. */
  constructor(inputs: readonly AnyDep[]) {
    this.#carriers = carriersOf(inputs);
  }

  /** The SHA-256 of the credentials of a request. */
  async of(request: RequestState): Promise<string> {
    const values = this.#carriers.map((carrier) => carried(request, carrier));
    const certificate = certificateOf(request.exchange)?.fingerprint256;
    const text = JSON.stringify([...values, certificate]);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return encodeHex(new Uint8Array(digest));
  }
}

/** Where a credential is sent. */
interface Carrier {
  readonly in: "header" | "cookie" | "query";
  readonly name: string;
}

function carried(request: RequestState, { in: place, name }: Carrier): readonly string[] {
  if (place === "header") return request.lines(name);
  if (place === "query") return new URLSearchParams(request.search).getAll(name);
  // As a route reads it, wherever it is among others.
  const cookie = request.cookie(name);
  return cookie === undefined ? [] : [cookie];
}

/** `Authorization`, and whatever the credentials of the routes are read from. */
function carriersOf(inputs: readonly AnyDep[]): readonly Carrier[] {
  const found = new Map<string, Carrier>([["header authorization", { in: "header", name: "authorization" }]]);
  const add = (carrier: Carrier): void => {
    found.set(`${carrier.in} ${carrier.name}`, carrier);
  };
  const visit = (node: DepNode, isCredential: boolean): void => {
    const isOne = isCredential || node.credential !== undefined;
    const { need, needs = [] } = node;
    for (const one of isOne ? [need, ...needs] : []) {
      if (one === undefined || !("in" in one)) continue;
      if (one.in === "header") add({ in: "header", name: one.name.toLowerCase() });
      if (one.in === "cookie" || one.in === "query") add({ in: one.in, name: one.name });
    }
    for (const from of node.from) visit(from.node, isOne);
  };
  for (const { node } of inputs) visit(node, false);
  return [...found.values()];
}
