/** Whose a session is: of the credentials that opened it. */
import type { RequestState } from "../../src/app/request.ts";
import { encodeHex } from "../../src/http/bytes.ts";
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
    const values = this.#carriers.map(({ name, cookie }) => {
      const lines = request.lines(name);
      return cookie === undefined ? lines : lines.flatMap((line) => cookiesOf(line, cookie));
    });
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(values)));
    return encodeHex(new Uint8Array(digest));
  }
}

/** Where a credential is sent: a header, or one cookie. */
interface Carrier {
  readonly name: string;
  readonly cookie?: string;
}

/** `Authorization`, and whatever the credentials of the routes are read from. */
function carriersOf(inputs: readonly AnyDep[]): readonly Carrier[] {
  const found = new Map<string, Carrier>([["authorization", { name: "authorization" }]]);
  const visit = (node: DepNode, isCredential: boolean): void => {
    const isOne = isCredential || node.credential !== undefined;
    const { need } = node;
    if (isOne && need?.in === "header") found.set(need.name.toLowerCase(), { name: need.name.toLowerCase() });
    if (isOne && need?.in === "cookie") found.set(`cookie ${need.name}`, { name: "cookie", cookie: need.name });
    for (const from of node.from) visit(from.node, isOne);
  };
  for (const { node } of inputs) visit(node, false);
  return [...found.values()];
}

function cookiesOf(line: string, name: string): readonly string[] {
  return line.split(";").filter((pair) => pair.replace(/^[ \t]+/, "").startsWith(`${name}=`));
}
