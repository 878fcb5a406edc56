import type { Credentials } from "../../src/doors/codecs.ts";
import { bearerToken, credentials } from "../../src/doors/codecs.ts";
import { isTexts, needs, needsCount, needsOptions, needsSchema, needsText } from "../../src/arguments.ts";
import { credential, isInput, map, optionalHeader, validWhile } from "../../src/doors/inputs.ts";
import type { AnyDep, Challenge, CredentialOptions, Dep, DepNode, InputRequest } from "../../src/doors/inputs.ts";
import { Refusal, busy, refuse } from "../../src/refusals.ts";
import { compileReader } from "../../src/doors/schema.ts";
import type { AnyStandard, OutputOf, StandardSchema, AnyShape, ValueOf } from "../../src/doors/schema.ts";
import {
  challengeOf,
  firstReadOf,
  isQuotable,
  isScope,
  mayNot,
  notAllowed,
  pleaseSignIn,
  schemeNameOf,
  signedOut,
} from "../../src/doors/security.ts";
import { josePackage } from "./jose.ts";
import { sourceOf } from "./keys.ts";
import type { JwtAlgorithm, JwtKeys } from "./keys.ts";
import { NoKeysError, TokenVerifier } from "./verifier.ts";
import type { JwtClaims, Rules, Verified } from "./verifier.ts";

/** Which tokens are accepted. */
export interface JwtOptions<out R extends string = never, out W = JwtWire> {
  /** The `iss` of its tokens, as they have it; one of a list, for an issuer of several names: any of the keys is for each. */
  readonly issuer: string | readonly string[];
  /** This service, as `aud` has it; one of a list. A token for another service is refused. */
  readonly audience: string | readonly string[];
  /**
   * The claim that has the audience: `aud` by default. An access token of Cognito has no `aud` and names the app client in
   * `client_id`; one of Keycloak names the client in `azp`. With another claim than `aud`, `aud` is not looked at.
   */
  readonly audienceClaim?: string;
  /** The keys that verify them; or a resource, where a test has keys of its own. */
  readonly keys: JwtKeys | Dep<JwtKeys>;
  /** The algorithms that a token may be signed by; a token's own word for it does not count. */
  readonly algorithms: readonly JwtAlgorithm[];
  /** How far the issuer's clock may be from the server's, in milliseconds: 5 seconds by default, 5 minutes at most. */
  readonly clockSkewMs?: number;
  /** How long after its `iat` a token is refused whatever its `exp`, in milliseconds. */
  readonly maxAgeMs?: number;
  /** The `typ` that its head must have: `at+jwt` for the access tokens of RFC 9068. */
  readonly typ?: string;
  /** The longest token, in characters: 8,192 by default. */
  readonly maxLength?: number;
  /** The claim that has the scopes, as a text with spaces between or as a list: `scope` by default; `scp` at Entra ID and Okta. */
  readonly scopeClaim?: string;
  /** What is protected, for the challenge of a 401 and a 403. */
  readonly realm?: string;
  /** The URL of the metadata that says where a client gets a token (RFC 9728), for the challenge. */
  readonly resourceMetadata?: string;
  /** The URL of the issuer's discovery document: the API document then describes it as OpenID Connect. */
  readonly openIdConnect?: string;
  /**
   * An input that gives the token in place of `Authorization`, or undefined without one: `Socket.credential("bearer.")`, for the
   * WebSocket of a browser. The API document describes what it reads as an API key, so `openIdConnect` is not for it.
   */
  readonly from?: Dep<string | undefined, R, W>;
  /** The name of the scheme of `openIdConnect` or `from` in the API document: `openIdConnect`, or what `from` reads, by default. */
  readonly name?: string;
  /** What the API document says of it. */
  readonly doc?: string;
}

/** What a client sends for a token. */
export interface JwtWire {
  /** `Bearer` and the token. */
  headers?: { authorization?: string };
}

/** The input that gives the claims of the request's token; and further inputs of the same token, which is verified once. */
export interface Bearer<out A, out R extends string = never, out W = JwtWire> extends Dep<A, "signed_out" | R, W> {
  /** The claims of a request that has a token; undefined without one. A wrong token is still a 401. */
  readonly optional: Dep<A | undefined, "signed_out" | R, W>;
  /**
   * The claims of a token that has all of these scopes; otherwise the answer is 403 `not_allowed`, and its challenge names them.
   *
   * @throws TypeError for a text that is no scope.
   */
  scope(...scopes: readonly [string, ...(readonly string[])]): Dep<A, "signed_out" | "not_allowed" | R, W>;
}

/**
 * Who sends a request, by the JWT of its `Authorization: Bearer`: an input that gives the claims. A request without a token, or with
 * one that is not valid, is answered 401 `signed_out`, before the body is read; the log alone has the reason. Where the issuer's
 * keys cannot be had, it is 503 `busy`.
 *
 * @param options `claims` is the shape of the claims; without one they are {@link JwtClaims}.
 * @throws TypeError for options under which a token would not be safe: no algorithm, `none`, a secret as a public key's.
 * @example
 * ```ts
 * const user = Jwt.bearer({
 *   issuer: "https://login.example/",
 *   audience: "shop",
 *   keys: Jwt.jwks("https://login.example/.well-known/jwks.json"),
 *   algorithms: ["ES256"],
 *   claims: v.object({ sub: v.string() }),
 * });
 * const me = get(Path.of("me"), { inputs: { user }, returns: Returns.text }, ({ user }) => user.sub);
 * const close = del(Path.of("me"), { inputs: { user: user.scope("account:delete") }, returns: Returns.empty() }, () => {});
 * ```
 */
export function bearer<S extends AnyShape, R extends string = never, W = JwtWire>(
  options: JwtOptions<R, W> & { readonly claims: S },
): Bearer<ValueOf<S>, R, W>;
export function bearer<S extends StandardSchema, R extends string = never, W = JwtWire>(
  options: JwtOptions<R, W> & { readonly claims: S },
): Bearer<OutputOf<S>, R, W>;
export function bearer<R extends string = never, W = JwtWire>(options: JwtOptions<R, W>): Bearer<JwtClaims, R, W>;
// For errors: a compiler reports the last of four overloads alone. No options reach it that the others take.
export function bearer(options: JwtOptions & { readonly claims?: AnyStandard }): Bearer<unknown>;
export function bearer(options: AnyJwtOptions): Bearer<unknown, string, unknown> {
  const settings = bearerSettings(options);
  josePackage.begin("Jwt.bearer");
  const verified = verifiedInput(settings);
  const described = describing(settings.options);
  const anyone = map(asDep<Verified | undefined>(verified), (verified) => verified?.claims);
  return {
    ...described(scoped(settings, verified, [])),
    optional: described(anyone, { optional: true }),
    scope(...scopes) {
      const areScopes = scopes.length > 0 && scopes.every(isScope);
      needs(areScopes, "Jwt.bearer: scope", scopes[0], "a scope of RFC 6749, one at least");
      return described(scoped(settings, verified, scopes), { scopes });
    },
  };
}

type AnyJwtOptions = JwtOptions<string, unknown> & { readonly claims?: AnyStandard };

/** The checked options, and what is made of them once. */
interface BearerSettings {
  readonly options: AnyJwtOptions;
  readonly rules: Rules;
  readonly missing: Refusal;
  readonly challengeOf: (parameters: { readonly error: string; readonly scope?: string }) => string;
  readonly challenges: readonly Challenge[];
}

function bearerSettings(options: AnyJwtOptions): BearerSettings {
  const at = "Jwt.bearer";
  needsOptions(
    at,
    options,
    "issuer audience audienceClaim keys algorithms clockSkewMs maxAgeMs typ maxLength scopeClaim realm resourceMetadata openIdConnect from name doc claims",
  );
  const { algorithms, keys, claims, audienceClaim, scopeClaim, realm, resourceMetadata, from, openIdConnect } = options;
  for (const name of ["issuer", "audience"] as const) needsNames(`${at}: ${name}`, options[name]);
  checkAlgorithms(algorithms);
  if (!isInput(keys)) sourceOf(keys, `${at}: keys`).check(algorithms, at);
  for (const name of ["typ", "audienceClaim", "scopeClaim", "openIdConnect", "name", "doc"] as const) {
    if (options[name] !== undefined) needsText(`${at}: ${name}`, options[name]);
  }
  for (const [name, value] of Object.entries({ realm, resourceMetadata })) {
    needs(
      value === undefined || isQuotable(value),
      `${at}: ${name}`,
      value,
      'a text of printable ASCII without " and \\',
    );
  }
  for (const [name, claim] of Object.entries({ audienceClaim, scopeClaim })) {
    if (claim === "") throw new TypeError(`${at}: ${name} is empty`);
  }
  if (claims !== undefined) needsSchema(`${at}: claims`, claims);
  needs(from === undefined || isInput(from), `${at}: from`, from, "an input of a text");
  if (from !== undefined && openIdConnect !== undefined) {
    throw new TypeError(`${at}: openIdConnect is for a token of Authorization: leave it out where there is from`);
  }
  const own = { realm, resource_metadata: resourceMetadata };
  const missing = challengeOf("Bearer", own);
  const invalid = challengeOf("Bearer", { ...own, error: "invalid_token" });
  return {
    options,
    rules: rulesOf(options),
    missing: new Refusal(signedOut, pleaseSignIn, { challenge: missing }),
    challengeOf: (parameters) => challengeOf("Bearer", { ...own, ...parameters }),
    challenges: [missing, invalid].map((value) => ({ code: signedOut.name, value })),
  };
}

function needsNames(at: string, given: unknown): void {
  const names = typeof given === "string" ? [given] : given;
  const isGiven = isTexts(names) && names.length > 0 && !names.includes("");
  needs(isGiven, at, given, "a text or a list of texts, none of them empty");
}

const knownAlgorithms: ReadonlySet<unknown> = new Set<JwtAlgorithm>([
  ...(["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "HS256", "HS384", "HS512"] as const),
  ...(["PS256", "PS384", "PS512", "RS256", "RS384", "RS512"] as const),
]);

function checkAlgorithms(algorithms: unknown): asserts algorithms is readonly JwtAlgorithm[] {
  const at = "Jwt.bearer: algorithms";
  needs(
    isTexts(algorithms) && algorithms.length > 0,
    at,
    algorithms,
    'a list of algorithms, one at least, as ["ES256"]',
  );
  for (const algorithm of algorithms as readonly string[]) {
    // RFC 8725 §3.2.
    if (algorithm.toLowerCase() === "none") throw new TypeError(`${at} has none: an unsigned token proves nothing`);
    if (!knownAlgorithms.has(algorithm)) {
      throw new TypeError(`${at} has ${JSON.stringify(algorithm)}: it is none of ${[...knownAlgorithms].join(", ")}`);
    }
  }
}

const defaultSkewMs = 5_000;

function rulesOf(options: AnyJwtOptions): Rules {
  const { issuer, audience, audienceClaim = "aud", algorithms, typ, claims } = options;
  const { maxAgeMs, clockSkewMs = defaultSkewMs, maxLength = 8_192 } = options;
  const isSkew = Number.isFinite(clockSkewMs) && clockSkewMs >= 0 && clockSkewMs <= 300_000;
  needs(isSkew, "Jwt.bearer: clockSkewMs", clockSkewMs, "milliseconds, 300,000 at most");
  const isAge = maxAgeMs === undefined || (Number.isFinite(maxAgeMs) && maxAgeMs > 0);
  needs(isAge, "Jwt.bearer: maxAgeMs", maxAgeMs, "milliseconds, more than 0");
  needsCount("Jwt.bearer: maxLength", maxLength);
  return {
    algorithms: [...algorithms],
    maxLength,
    audience: { claim: audienceClaim, names: typeof audience === "string" ? [audience] : [...audience] },
    reader: claims === undefined ? undefined : compileReader(claims),
    options: {
      algorithms: [...algorithms],
      issuer: typeof issuer === "string" ? issuer : [...issuer],
      requiredClaims: ["exp"],
      clockTolerance: clockSkewMs / 1000,
      ...(typ === undefined ? {} : { typ }),
      ...(maxAgeMs === undefined ? {} : { maxTokenAge: maxAgeMs / 1000 }),
    },
  };
}

const authorization: AnyDep = /* @__PURE__ */ optionalHeader("authorization", credentials);

/** Verifies the token of a request, once however many inputs use it; its value is undefined without a token. */
function verifiedInput(settings: BearerSettings): AnyDep {
  const { keys, from } = settings.options;
  const given: AnyDep = from ?? authorization;
  const verifierOf = verifiersOf(settings);
  return asInput({
    from: isInput(keys) ? [given, keys] : [given],
    codes: [signedOut],
    challenges: settings.challenges,
    compile:
      (_route, [sent = 0, supplied = 0]) =>
      (request, values) => {
        const given = values[sent];
        const token =
          from === undefined ? bearerToken(given as Credentials | undefined) : (given as string | undefined);
        if (token === undefined) {
          const isEmpty = from === undefined && (given as Credentials | undefined)?.scheme === "bearer";
          return isEmpty ? invalid(settings, "it is empty") : undefined;
        }
        return verify(settings, verifierOf(values[supplied]), token, request);
      },
  });
}

/** The verifier of the keys: one where they are given, else one for each value of the resource, since tests have their own. */
function verifiersOf({ options, rules }: BearerSettings): (supplied: unknown) => TokenVerifier {
  const { keys, algorithms } = options;
  if (!isInput(keys)) {
    const verifier = new TokenVerifier(sourceOf(keys, "Jwt.bearer: keys"), rules);
    return () => verifier;
  }
  const made = new WeakMap<object, TokenVerifier>();
  return (supplied) => {
    const source = sourceOf(supplied, "Jwt.bearer: keys");
    let verifier = made.get(source);
    if (verifier === undefined) {
      source.check(algorithms, "Jwt.bearer");
      made.set(source, (verifier = new TokenVerifier(source, rules)));
    }
    return verifier;
  };
}

function invalid({ challengeOf }: BearerSettings, detail: string): Refusal {
  return new Refusal(signedOut, pleaseSignIn, { challenge: challengeOf({ error: "invalid_token" }), detail });
}

async function verify(
  settings: BearerSettings,
  verifier: TokenVerifier,
  token: string,
  request: InputRequest,
): Promise<Verified | Refusal> {
  try {
    const verified = await verifier.verify(token, request);
    if (typeof verified === "string") return invalid(settings, verified);
    validWhile(request, { until: expiryOf(settings.options, verified) });
    return verified;
  } catch (error) {
    if (error instanceof NoKeysError)
      return refuse(busy, undefined, { detail: `no keys for tokens: ${error.message}` });
    throw error;
  }
}

/** When a token is refused from, in milliseconds since 1970. */
function expiryOf({ clockSkewMs = defaultSkewMs, maxAgeMs }: AnyJwtOptions, { payload }: Verified): number {
  const { exp = 0, iat = 0 } = payload;
  const end = maxAgeMs === undefined ? exp * 1000 : Math.min(exp * 1000, iat * 1000 + maxAgeMs);
  return end + clockSkewMs;
}

/** The claims of a token that has all the scopes. */
function scoped(settings: BearerSettings, verified: AnyDep, scopes: readonly string[]): Dep<unknown, never, JwtWire> {
  const { scopeClaim = "scope" } = settings.options;
  const challenge = settings.challengeOf({ error: "insufficient_scope", scope: scopes.join(" ") });
  const scoping = { codes: [notAllowed], challenges: [{ code: notAllowed.name, value: challenge }] };
  return asDep({
    node: {
      from: [verified],
      ...(scopes.length === 0 ? {} : scoping),
      compile:
        (_route, [slot = 0]) =>
        (_request, values) => {
          const token = values[slot] as Verified | undefined;
          // RFC 6750 §3.1: without a token the challenge has no error.
          if (token === undefined) return settings.missing;
          if (scopes.length === 0) return token.claims;
          const given = scopesIn(token.payload[scopeClaim]);
          const lacking = scopes.find((scope) => !given.includes(scope));
          if (lacking === undefined) return token.claims;
          return new Refusal(notAllowed, mayNot, { challenge, detail: `the token has no scope ${lacking}` });
        },
    },
  });
}

function scopesIn(claim: unknown): readonly unknown[] {
  return typeof claim === "string" ? claim.split(" ") : Array.isArray(claim) ? claim : [];
}

/** How the API document describes the inputs of these options. */
function describing({ openIdConnect, from, name, doc }: AnyJwtOptions) {
  const about = doc === undefined ? {} : { doc };
  const own = {
    ...(openIdConnect === undefined ? { bearerFormat: "JWT" } : { openIdConnect, name: name ?? "openIdConnect" }),
    ...(from === undefined ? {} : { name: name ?? schemeNameOf("bearer", firstReadOf(from)) }),
    ...about,
  };
  return <A, R extends string>(
    dep: Dep<A, R, JwtWire>,
    more: Pick<CredentialOptions, "optional" | "scopes"> = {},
  ): Dep<A, R, JwtWire> => credential("bearer", dep, { ...own, ...more });
}

function asInput(node: DepNode): AnyDep {
  return { node };
}

function asDep<A>(dep: AnyDep): Dep<A, never, JwtWire> {
  return dep as Dep<A, never, JwtWire>;
}
