/** `Conninfo`: connection strings. */
import { isIP } from "node:net";
import { needs, needsObject, needsText } from "../../src/arguments.ts";

/** A parsed connection string. */
export interface Conninfo {
  /** Tried in this order. A host that begins with `/` is the directory of a Unix socket. `address` is connected in place of the host. */
  readonly hosts: readonly { readonly host: string; readonly port: number; readonly address?: string }[];
  /** The database's name. */
  readonly database: string;
  /** The role to sign in as. */
  readonly user: string;
  /** No message contains it. A function is called for each connection, as for a token that expires. */
  readonly password?: Password;
  /** How the server may ask to sign in, as libpq's `require_auth`; in any way by default. */
  readonly methods?: readonly SignInMethod[];
  /** Whether SCRAM is bound to the encrypted channel, as in libpq; `prefer` by default. */
  readonly channelBinding?: ChannelBinding;
  /** Whether the hosts are tried in a random order. */
  readonly balancesLoad?: boolean;
  /** How the connection is encrypted. */
  readonly tls: Tls;
  /** How long to wait for each address; 10 000 by default. */
  readonly connectTimeoutMs?: number;
  /** Which of several hosts to use; any by default. */
  readonly session: SessionKind;
  /** Settings of every connection: `application_name`, `options`. */
  readonly parameters: { readonly [name: string]: string };
}

/** A password, or what gives one for each connection, at once or later. */
export type Password = string | (() => string | Promise<string>);
/** The ways to sign in that are supported, with the names of `require_auth`. */
export type SignInMethod = "none" | "password" | "md5" | "scram-sha-256";
/** libpq's `channel_binding`. */
export type ChannelBinding = "disable" | "prefer" | "require";
/** A version of TLS. */
export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

/** The TLS settings, with libpq's names. */
export interface Tls {
  /** libpq's `sslmode`; only `verify-full` checks which server answers. */
  readonly mode: "disable" | "prefer" | "require" | "verify-ca" | "verify-full";
  /** The file of certificate authorities; `system` for the runtime's own. */
  readonly rootCertificate?: string;
  /** The files of the client's own certificate and key. */
  readonly certificate?: string;
  /** The file of the client's key. */
  readonly key?: string;
  /** The password of that key. */
  readonly keyPassword?: string;
  /** The file of the certificates that are revoked. */
  readonly revoked?: string;
  /** Whether the connection begins with TLS, without a request for it (`sslnegotiation=direct`, PostgreSQL 17). */
  readonly isDirect?: boolean;
  /** The lowest version of TLS that is spoken; the runtime's by default. */
  readonly minVersion?: TlsVersion;
  /** The highest version of TLS that is spoken. */
  readonly maxVersion?: TlsVersion;
}

const sessionKinds = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;
/** Which server of several is used, as `target_session_attrs` of libpq. */
export type SessionKind = (typeof sessionKinds)[number];
const tlsModes = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;

const known: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connect_timeout",
  "application_name",
  "options",
  "target_session_attrs",
  "hostaddr",
  "fallback_application_name",
  "load_balance_hosts",
  "channel_binding",
  "require_auth",
  "sslnegotiation",
  "sslpassword",
  "sslcrl",
  "ssl_min_protocol_version",
  "ssl_max_protocol_version",
]);

/** Keywords of libpq that change nothing here, with the values that they may have. */
const passedOver: ReadonlyMap<string, RegExp> = /* @__PURE__ */ new Map([
  // Texts are UTF-8.
  ["client_encoding", /^(?:auto|utf-?8|unicode)$/i],
  // The runtime sets the times of a socket's own checks.
  ["keepalives", /^[01]$/],
  ["keepalives_idle", /^\d+$/],
  ["keepalives_interval", /^\d+$/],
  ["keepalives_count", /^\d+$/],
  ["tcp_user_timeout", /^\d+$/],
  // There is no GSSAPI here.
  ["gssencmode", /^(?:disable|prefer)$/],
  ["gsslib", /^/],
  ["gssdelegation", /^0$/],
  ["krbsrvname", /^/],
  ["sslcompression", /^[01]$/],
  ["sslsni", /^1$/],
  ["sslcertmode", /^allow$/],
  ["replication", /^(?:false|off|no|0)$/],
  ["min_protocol_version", /^3\.0$/],
  ["max_protocol_version", /^(?:3\.[02]|latest)$/],
]);

type Words = Map<string, string>;

const exampleUrl = "postgres://user@host/database";

/**
 * Parses a connection string: a URL, `postgres://user:password@host:5432/database?sslmode=verify-full`, or keywords,
 * `host=/run/postgresql dbname=orders`. Separate several hosts by commas, and percent-encode values in a URL. Defaults:
 * the database has the user's name, the host is `localhost`, the port 5432, `sslmode` is `prefer`.
 *
 * The keywords are those of libpq (PostgreSQL §34.1.2); the guide has the list. One that would change nothing is passed over, and any
 * other is an error. It does not read the environment.
 *
 * @throws Error naming the wrong part, never the password.
 */
export function parse(text: string): Conninfo {
  needsText("Conninfo.parse: the connection string", text);
  const words = /^postgres(?:ql)?:\/\//.test(text) ? urlWords(text) : keywordWords(text);
  for (const [name, value] of words) {
    if (known.has(name) || isPassedOver(name, value)) continue;
    const takes = [...known].join(", ");
    throw new Error(`the connection string has an unknown keyword ${JSON.stringify(name)}: it takes ${takes}`);
  }
  const user = words.get("user");
  if (user === undefined) {
    throw new Error(`the connection string ${text.trim() === "" ? "is empty" : "has no user"}: write ${exampleUrl}`);
  }
  const password = words.get("password");
  const seconds = words.get("connect_timeout");
  const parameters = [
    ["application_name", words.get("application_name") ?? words.get("fallback_application_name")],
    ["options", words.get("options")],
  ].filter(([, value]) => value !== undefined);
  const info: Conninfo = {
    hosts: hostsOf(words),
    database: words.get("dbname") ?? user,
    user,
    ...(password === undefined ? {} : { password }),
    ...signInOf(words),
    ...(words.get("load_balance_hosts") === undefined ? {} : { balancesLoad: balancesLoad(words) }),
    tls: tlsOf(words),
    session: oneOf(sessionKinds, "target_session_attrs", words.get("target_session_attrs") ?? "any"),
    parameters: Object.fromEntries(parameters),
  };
  return seconds === undefined ? info : withConnectTimeout(info, 1000 * wholeNumber("connect_timeout", seconds));
}

/** Whether a keyword changes nothing. @throws Error where its value asks for what is not supported. */
function isPassedOver(name: string, value: string): boolean {
  const values = passedOver.get(name);
  if (values !== undefined && !values.test(value))
    throw new Error(`the connection string's ${name} has a value that is not supported`);
  return values !== undefined;
}

/** A copy with another password: a text, or a function that gives one for each connection, such as a token that expires. */
export function withPassword(target: Conninfo, password: Password): Conninfo {
  needsObject("Conninfo.withPassword: its target", target);
  const isPassword = typeof password === "string" || typeof password === "function";
  needs(isPassword, "Conninfo.withPassword: password", password, "a text or a function");
  return { ...target, password };
}

/** A copy with another connect timeout for each address; 0 for no limit. */
export function withConnectTimeout(target: Conninfo, ms: number): Conninfo {
  needsObject("Conninfo.withConnectTimeout: its target", target);
  needs(typeof ms === "number" && ms >= 0, "Conninfo.withConnectTimeout: ms", ms, "milliseconds");
  return { ...target, connectTimeoutMs: ms };
}

const methodWords: ReadonlySet<string> = /* @__PURE__ */ new Set<SignInMethod>([
  "none",
  "password",
  "md5",
  "scram-sha-256",
]);
const isMethod = (word: string): word is SignInMethod => methodWords.has(word);

function signInOf(words: Words): Pick<Conninfo, "methods" | "channelBinding"> {
  const required = words.get("require_auth");
  const bound = words.get("channel_binding");
  return {
    ...(required === undefined ? {} : { methods: methodsIn(required.split(",").map((word) => word.trim())) }),
    ...(bound === undefined
      ? {}
      : { channelBinding: oneOf(["disable", "prefer", "require"], "channel_binding", bound) }),
  };
}

/** `password,md5`, or `!password` for every other. Those that are not supported here, as `gss`, may be left out too. */
function methodsIn(words: readonly string[]): readonly SignInMethod[] {
  const negated = words.filter((word) => word.startsWith("!")).map((word) => word.slice(1));
  const named = negated.length > 0 ? negated : words;
  const isMixed = negated.length > 0 && negated.length < words.length;
  if (isMixed || named.some((word) => !isMethod(word) && !["gss", "sspi", "oauth"].includes(word)))
    throw new Error(
      `the connection string's require_auth must be a list of ${[...methodWords].join(", ")}, or of each with "!"`,
    );
  const methods = [...methodWords].filter(isMethod);
  return negated.length > 0 ? methods.filter((method) => !negated.includes(method)) : named.filter(isMethod);
}

function balancesLoad(words: Words): boolean {
  return oneOf(["disable", "random"], "load_balance_hosts", words.get("load_balance_hosts") ?? "disable") === "random";
}

const tlsVersions = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"] as const;

function tlsOf(words: Words): Tls {
  const rootCertificate = words.get("sslrootcert");
  const certificate = words.get("sslcert");
  const key = words.get("sslkey");
  // Anybody can get a certificate from the system's authorities, so the host name must be checked (libpq requires it too).
  const isSystem = rootCertificate === "system";
  const word = words.get("sslmode") ?? (isSystem ? "verify-full" : "prefer");
  // "allow" encrypts where the server insists; "prefer" does also where it can.
  const mode = word === "allow" ? "prefer" : oneOf(tlsModes, "sslmode", word);
  if (isSystem && mode !== "verify-full")
    throw new Error(`the connection string's sslmode must be verify-full, not ${mode}, where sslrootcert is system`);
  return {
    mode,
    ...(rootCertificate === undefined ? {} : { rootCertificate }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
    ...moreTlsOf(words, mode),
  };
}

function moreTlsOf(words: Words, mode: Tls["mode"]): Partial<Tls> {
  const keyPassword = words.get("sslpassword");
  const revoked = words.get("sslcrl");
  const negotiation = oneOf(["postgres", "direct"], "sslnegotiation", words.get("sslnegotiation") ?? "postgres");
  const isDirect = negotiation === "direct";
  if (isDirect && (mode === "disable" || mode === "prefer"))
    throw new Error("the connection string's sslmode must be require or more where sslnegotiation is direct");
  const versions = (["min", "max"] as const).flatMap((end) => {
    const name = `ssl_${end}_protocol_version`;
    const version = words.get(name);
    return version === undefined ? [] : [[`${end}Version`, oneOf(tlsVersions, name, version)] as const];
  });
  return {
    ...(keyPassword === undefined ? {} : { keyPassword }),
    ...(revoked === undefined ? {} : { revoked }),
    ...(isDirect ? { isDirect } : {}),
    ...Object.fromEntries(versions),
  };
}

const urlForm = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

// `URL` accepts neither several hosts nor a directory as host.
function urlWords(text: string): Words {
  const [, credentials = "", authority = "", path = "", query = ""] = urlForm.exec(text) ?? notReadable();
  const words: Words = new Map();
  const set = (name: string, value: string): void => {
    if (value !== "") words.set(name, value);
  };
  const colon = credentials.indexOf(":");
  set("user", decoded("user", colon === -1 ? credentials : credentials.slice(0, colon)));
  if (colon !== -1) set("password", decoded("password", credentials.slice(colon + 1)));
  const places = authority.split(",").map((place) => /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(place) ?? notReadable());
  set("host", places.map(([, host = ""]) => decoded("host", host.replace(/^\[|\]$/g, ""))).join(","));
  if (places.some(([, , port]) => port)) set("port", places.map(([, , port]) => port || "5432").join(","));
  set("dbname", decoded("dbname", path));
  for (const pair of query === "" ? [] : query.split("&")) {
    const [name = "", ...value] = pair.split("=");
    // A password with a "?" that is not encoded may end here: its error must not quote it.
    if (!/^\w+$/.test(name)) notReadable();
    const text = decoded(name, value.join("="));
    // Of JDBC; libpq reads it too.
    if (name === "ssl" && text === "true") set("sslmode", "require");
    else set(name, text);
  }
  return words;
}

function decoded(name: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`the connection string's ${name} is not percent-encoded`);
  }
}

// name = value, 'in quotes', with \' and \\ (PostgreSQL §34.1.1.1).
const keyword = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s\\']|\\.)*))(?=\s|$)/gsy;

function keywordWords(text: string): Words {
  const words: Words = new Map();
  const trimmed = text.trimEnd();
  for (let at = 0; at < trimmed.length; at = keyword.lastIndex) {
    keyword.lastIndex = at;
    const [, name = "", quoted, bare = ""] = keyword.exec(trimmed) ?? notReadable();
    const value = (quoted ?? bare).replace(/\\(.)/gs, "$1");
    if (value === "") words.delete(name);
    else words.set(name, value);
  }
  return words;
}

function notReadable(): never {
  throw new Error(
    `not a connection string: write ${exampleUrl}, or host=… user=… dbname=…. In a URL, percent-encode any other character: # is %23, @ is %40, / is %2F`,
  );
}

function hostsOf(words: Words): Conninfo["hosts"] {
  const addresses = words.get("hostaddr")?.split(",");
  const names = (words.get("host") ?? words.get("hostaddr") ?? "localhost").split(",");
  const ports = words.get("port") ?? "5432";
  if (addresses !== undefined && addresses.length !== names.length)
    throw new Error("the connection string must have one hostaddr for each host");
  if (addresses?.some((address) => address !== "" && isIP(address) === 0))
    throw new Error("the connection string's hostaddr must be an IP address");
  const numbers = ports.split(",").map((port) => wholeNumber("port", port));
  if (numbers.length !== 1 && numbers.length !== names.length)
    throw new Error("the connection string must have one port, or one for each host");
  return names.map((host, at) => {
    const port = numbers[numbers.length === 1 ? 0 : at] as number;
    if (port < 1 || port > 65535) throw new Error("the connection string's port must be from 1 to 65535");
    const address = addresses?.[at] || undefined;
    const name = host || address || "localhost";
    return { host: name, port, ...(address === undefined ? {} : { address }) };
  });
}

function wholeNumber(name: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new Error(`the connection string's ${name} must be a whole number`);
  return Number(text);
}

function oneOf<const Words extends readonly string[]>(words: Words, name: string, word: string): Words[number] {
  if (words.includes(word)) return word;
  throw new Error(`the connection string's ${name} must be one of ${words.join(", ")}`);
}
