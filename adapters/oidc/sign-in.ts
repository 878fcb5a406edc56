import { networkOfClient } from "../../src/doors/http.ts";
import type { Answer } from "../../src/doors/answers.ts";
import { responses } from "../../src/doors/answers.ts";
import type { SetCookie } from "../../src/doors/codecs.ts";
import { setCookie, ofRequest, optionalQuery } from "../../src/doors/inputs.ts";
import type { Dep, RequestRecord } from "../../src/doors/inputs.ts";
import { isA } from "../../src/doors/logging.ts";
import { Refusal } from "../../src/refusals.ts";
import type { Code } from "../../src/refusals.ts";
import { of } from "../../src/routing/path.ts";
import type { Path } from "../../src/routing/path.ts";
import { get } from "../../src/doors/routing.ts";
import type { Route } from "../../src/doors/routing.ts";
import { waitOf } from "../../src/doors/security.ts";
import type { RateRule, RateStore, SessionsInStore } from "../../src/doors/security.ts";
import { Attempts } from "./attempts.ts";
import type { Attempt } from "./attempts.ts";
import {
  IssuerAway,
  failed,
  refusalOf,
  refused,
  signInFailed,
  signInRefused,
  signInUnavailable,
  unavailable,
} from "./failures.ts";
import { grantOfCode } from "./grants.ts";
import type { Granted } from "./grants.ts";
import type { IssuerClient, SentCall } from "./issuer.ts";
import { goTo, returnAddress } from "./return-address.ts";
import type { OidcRoutesOptions } from "./options.ts";

type Failure = Refusal<"sign_in_failed" | "sign_in_refused" | "sign_in_unavailable">;

/** A longer answer of an issuer is refused unread. */
const maxAnswer = 8192;
/** One issuer of the routes. */
interface SignInOptions<A, C extends string> {
  /** Empty where there is one issuer. */
  readonly name: string;
  readonly issuer: IssuerClient;
  readonly start: Path<never>;
  readonly options: OidcRoutesOptions<A, C>;
  readonly seen: Dep<RateStore>;
}

/** `GET /sign-in` and `GET /sign-in/callback`. */
export function signInRoutes<A, C extends string>(given: SignInOptions<A, C>): readonly Route[] {
  const signIn = new SignIn(given);
  const refuses: readonly Code[] = [signInFailed, signInRefused, signInUnavailable, ...(given.options.refuses ?? [])];
  const start = get(
    given.start,
    {
      summary: "Sends the browser to the issuer, to sign in",
      inputs: {
        returnTo: optionalQuery("return_to", returnAddress, {
          doc: "Where the browser goes in the end: a path of this site.",
        }),
        request: ofRequest((request) => request, { needs: [] }),
      },
      returns: responses({ 303: "To the issuer." }),
      refuses: [signInUnavailable],
    },
    ({ returnTo, request }) => signIn.toIssuer(request, returnTo),
  );
  const callback = get(
    signIn.callback,
    {
      summary: "Where the issuer sends the browser back to",
      inputs: {
        request: ofRequest((request) => request, { needs: answerParameters }),
        setCookie,
        sessions: given.options.sessions.withStore,
        seen: given.seen,
      },
      returns: responses({ 303: "Signed in." }),
      refuses,
    },
    (inputs) => signIn.fromIssuer(inputs),
  );
  return [start, callback];
}

/** What the answer of an issuer is read with. */
interface AnswerInputs<A> {
  readonly request: RequestRecord;
  readonly setCookie: (cookie: SetCookie) => void;
  readonly sessions: SessionsInStore<A>;
  readonly seen: RateStore;
}

const answerParameters = ["state", "code", "iss", "error"].map((name) => ({ in: "query", name }) as const);

/** The sign-in at one issuer. */
class SignIn<A, C extends string> {
  readonly callback: Path<never>;
  readonly #name: string;
  readonly #issuer: IssuerClient;
  readonly #options: OidcRoutesOptions<A, C>;
  readonly #redirectUri: string;
  readonly #attempts: Attempts;
  readonly #once: RateRule;

  constructor({ name, issuer, start, options }: SignInOptions<A, C>) {
    const { origin, keys, attemptMs = 600_000 } = options;
    const segments = [...(start.segments as readonly string[]), "callback"];
    this.callback = of(...segments) as Path as Path<never>;
    this.#name = name;
    this.#issuer = issuer;
    this.#options = options;
    this.#redirectUri = `${new URL(origin).origin}/${segments.map(encodeURIComponent).join("/")}`;
    this.#attempts = new Attempts(keys, this.#redirectUri, attemptMs);
    this.#once = { intervalMs: attemptMs, burst: 1 };
  }

  /** Sends the browser to the issuer. */
  async toIssuer(
    request: RequestRecord,
    returnTo = this.#options.home ?? "/",
  ): Promise<Answer | Refusal<"sign_in_unavailable">> {
    const metadata = await this.#issuer.metadata().catch(awayOf);
    if (isA(IssuerAway, metadata)) return unavailable(metadata.message, metadata.againMs);
    const url = this.#issuer.endpoint(metadata, "authorization_endpoint");
    if (url === undefined) return unavailable("the issuer's description has no authorization_endpoint that is https");
    const { attempt, cookies } = this.#attempts.start(returnTo, request);
    for (const [name, value] of Object.entries(await this.#parameters(attempt))) url.searchParams.set(name, value);
    return goTo(url.href, cookies);
  }

  async #parameters({ state, nonce, verifier }: Attempt): Promise<{ readonly [name: string]: string }> {
    const { parameters, prompt, maxAgeMs, acr } = this.#options;
    const { calculatePKCECodeChallenge } = await this.#issuer.oauth();
    return {
      ...parameters,
      response_type: "code",
      client_id: this.#issuer.clientId,
      redirect_uri: this.#redirectUri,
      scope: this.#issuer.scopes.join(" "),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(prompt === undefined ? {} : { prompt }),
      ...(maxAgeMs === undefined ? {} : { max_age: String(Math.floor(maxAgeMs / 1000)) }),
      ...(acr === undefined ? {} : { acr_values: acr.join(" ") }),
    };
  }

  /** Starts a session for the answer of the issuer. */
  async fromIssuer({ request, setCookie, sessions, seen }: AnswerInputs<A>): Promise<Answer | Refusal> {
    if (!isVisit(request))
      return failed("the request is a HEAD, or one that a browser sends before the user follows a link");
    const parameters = parametersOf(request.target);
    const attempt = await this.#attemptOf(parameters, request, seen);
    if (isA(Refusal, attempt)) return attempt;
    const granted = await this.#granted(parameters, attempt);
    if (isA(Refusal, granted)) return granted;
    const { onSignIn } = this.#options;
    const made = await onSignIn({ issuer: this.#name, ...granted });
    if (isA(Refusal, made)) return made;
    await sessions.start(setCookie, made);
    return goTo(attempt.returnTo, [this.#attempts.end(attempt, request)]);
  }

  /** The attempt of this browser that the issuer's answer is for. It is used up. */
  async #attemptOf(parameters: URLSearchParams, request: RequestRecord, seen: RateStore): Promise<Attempt | Failure> {
    const [state, ...more] = parameters.getAll("state");
    if (state === undefined || more.length > 0) return failed("the answer has no state, several, or is too long");
    const attempt = await this.#attempts.find(state, request);
    if (attempt === undefined) return failed("this browser has no sign-in of that state, or began it too long ago");
    const caller = { network: networkOfClient(request.client) };
    const taken = await seen.take(`oidc ${state}`, this.#once, request.now, caller);
    return waitOf("Oidc.routes", taken) > 0 ? failed("that answer was received before") : attempt;
  }

  /** What the issuer gives, where the user was signed in as strongly as the route needs. */
  async #granted(parameters: URLSearchParams, attempt: Attempt): Promise<Granted | Failure> {
    const { maxAgeMs, userInfo = false, acr } = this.#options;
    const options = { redirectUri: this.#redirectUri, maxAgeMs, userInfo };
    const sent: SentCall = { wasCalled: false, mayBeTaken: false, againMs: 0 };
    try {
      const granted = await grantOfCode(this.#issuer, parameters, attempt, options, sent);
      const isStrong = acr === undefined || acr.some((one) => one === granted.claims.acr);
      return isStrong ? granted : refused("the user was not signed in as strongly as the route needs");
    } catch (thrown) {
      return refusalOf(thrown, sent.againMs);
    }
  }
}

function awayOf(thrown: unknown): IssuerAway {
  if (isA(IssuerAway, thrown)) return thrown;
  throw thrown;
}

/** The headers by which a browser, or an older one, says that it loads a page in advance. */
const ofPrefetch = ["sec-purpose", "purpose", "x-moz"] as const;

/** Whether a user visits the page. A HEAD and a prefetch are safe (RFC 9110 §9.2.1): they must not spend the code, and sign no one in. */
function isVisit(request: RequestRecord): boolean {
  return (
    request.method === "GET" &&
    !ofPrefetch.some((name) => /prefetch|prerender|preview/i.test(request.header(name) ?? ""))
  );
}

function parametersOf(target: string): URLSearchParams {
  const query = target.indexOf("?");
  return new URLSearchParams(query === -1 || target.length > maxAnswer ? "" : target.slice(query + 1));
}
