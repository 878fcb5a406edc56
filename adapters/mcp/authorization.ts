/** Who may call what: a client that has to sign in, and the tools that the credentials of a caller are for. */
import { make } from "../../src/doors/answers.ts";
import * as Returns from "../../src/answers/returns.ts";
import { isObject, needsObject, needsTexts } from "../../src/arguments.ts";
import { readChosen } from "../../src/doors/inputs.ts";
import type { AnyDep, Inputs, Reading } from "../../src/doors/inputs.ts";
import { Refusal } from "../../src/refusals.ts";
import { empty, hidden, get } from "../../src/doors/routing.ts";
import { of } from "../../src/routing/path.ts";
import type { Route } from "../../src/doors/routing.ts";

/** Where a client signs in. */
export interface McpAuthorization {
  /** The URL that clients are given, with the path: `https://api.example.com/mcp`. */
  readonly resource: string;
  /** The issuers whose tokens are taken: `["https://login.example.com"]`. */
  readonly issuers: readonly string[];
  /** The scopes that a client should ask for. */
  readonly scopes?: readonly string[];
}

/** From JavaScript it may be anything. */
export function checkAuthorization(authorization: McpAuthorization): void {
  needsObject("Mcp.routes: authorization", authorization);
  const { resource, issuers, scopes = [] } = authorization;
  needsTexts("Mcp.routes: authorization.issuers", issuers);
  needsTexts("Mcp.routes: authorization.scopes", scopes);
  if (typeof resource !== "string" || !URL.canParse(resource)) {
    throw new TypeError("Mcp.routes: authorization.resource is not the URL that clients are given");
  }
  if (scopes.some((scope) => !/^[!#-[\]-~]+$/.test(scope))) {
    throw new TypeError("Mcp.routes: authorization.scopes has a text that is not a scope (RFC 6749 section 3.3)");
  }
}

const wellKnown = ".well-known/oauth-protected-resource";

/** RFC 9728 section 3.1: the path of the metadata begins with the well-known one. Clients leave out a slash at its end. */
function metadataUrl(resource: string): URL {
  const url = new URL(resource);
  return new URL(`/${wellKnown}${url.pathname.replace(/\/+$/, "")}`, url);
}

/** `WWW-Authenticate` of a 401 (RFC 9728 section 5.1). */
export function challengeOf({ resource, scopes = [] }: McpAuthorization): string {
  const scope = scopes.length === 0 ? "" : `, scope="${scopes.join(" ")}"`;
  return `Bearer resource_metadata="${metadataUrl(resource).href}"${scope}`;
}

/** The route of the metadata (RFC 9728 section 3). */
export function metadataRoute({ resource, issuers, scopes }: McpAuthorization): Route {
  const segments = metadataUrl(resource)
    .pathname.split("/")
    .filter((segment) => segment !== "");
  const text = JSON.stringify({
    resource,
    authorization_servers: issuers,
    ...(scopes === undefined ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
  });
  const summary = "Where a client signs in (RFC 9728)";
  return get(
    of(...segments.map(decodeURIComponent)),
    { summary, meta: empty.add(hidden, true), returns: Returns.response },
    () => make(text, { contentType: "application/json" }),
  );
}

/** The same inputs, whose 401 has a second challenge: where a client signs in. */
export function challenging(inputs: Inputs, challenge: string): Inputs {
  const all = Object.entries(inputs).map(([name, input]): readonly [string, AnyDep] => {
    const compile = () => async (_request: unknown, _values: unknown, reading: Reading) => {
      try {
        return await readChosen(reading, input, () => input);
      } catch (thrown) {
        if (!(thrown instanceof Refusal) || thrown.code.status !== 401) throw thrown;
        const { code, message, headers, problems, more, challenge: own, detail } = thrown;
        const all = [...headers, ["www-authenticate", challenge] as const];
        return new Refusal(code, message, { headers: all, problems, more, challenge: own, detail });
      }
    };
    return [name, { node: { from: [], binds: true, chooses: [input], compile } }];
  });
  return Object.fromEntries(all);
}

/** Whether a caller's credentials are refused by none of some inputs: a 401 or a 403 hides what they guard. */
export async function mayCall(guards: readonly AnyDep[], reading: Reading): Promise<boolean> {
  for (const guard of guards) {
    try {
      await readChosen(reading, guard.node, () => guard);
    } catch (thrown) {
      if (isObject(thrown) && thrown instanceof Refusal) {
        const { status } = thrown.code;
        if (status === 401 || status === 403) return false;
      } else throw thrown;
    }
  }
  return true;
}
