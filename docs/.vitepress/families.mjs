/**
 * On which page of the reference an export of an entry stands. A name stands on the page whose name it begins with, the longest of those:
 * `SocketOptions` on `Socket`. Here are the others, and a `*` stands for any rest. A page is the namespace of its name, if there is one.
 *
 * @type {Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>}
 */
export const families = {
  "usher-http": {
    Answer: ["TakenConnection"],
    ApiKeys: ["ApiKey*", "CreatedApiKey", "NewApiKey"],
    App: ["Connection", "DeclarationError", "FailedRequest", "Middleware*", "OnError"],
    Background: ["FailedWork"],
    Body: ["InvalidLine", "JsonLines*", "LinesSent", "Multipart*", "Part", "body", "bodyStream", "json*", "multipart"],
    Broadcast: ["Hub", "Relay", "Subscription"],
    Client: ["Outcome", "Refused"],
    Codec: [
      "BasicLogin",
      "ByteRange",
      "CacheDirective",
      "CalendarDate",
      "Credentials",
      "EntityTag",
      "ForwardedElement",
      "ListOptions",
      "Media*",
      "Ranges",
      "Structured*",
      "Text*",
      "Weighted",
    ],
    Cookie: ["SetCookie"],
    Dep: [
      "Awaitable",
      "Inputs",
      "Need",
      "OnlyDeclaredInputs",
      "RefusesOf",
      "Resource",
      "StoreFrom",
      "Supplied",
      "Values",
      "WiresOf",
    ],
    Event: ["Producer", "Send"],
    Form: ["File*", "UploadedFile"],
    Html: ["html"],
    Keys: ["isSameSecret"],
    Password: ["Argon2Cost"],
    Path: ["AnyParam", "Param", "Rest", "param"],
    Refusal: ["Code", "InputProblem", "Problem", "refuse"],
    RefusalFormat: ["RefusalToWrite"],
    Request: [
      "AfterOptions",
      "PeerCertificate",
      "Validity",
      "addHeader",
      "after",
      "client",
      "clientGone",
      "deadline",
      "earlyHints",
      "now",
      "peer",
      "peerCertificate",
      "request*",
      "setCookie",
      "validWhile",
    ],
    Returns: ["Answered", "ListedAnswer", "Received", "Succeeded", "answer"],
    Route: [
      "Declaration",
      "Group*",
      "Handler",
      "Method",
      "Mount*",
      "SentBy",
      "WebSocketSent",
      "del",
      "get",
      "patch",
      "post",
      "put",
      "route",
    ],
    Sessions: ["Session*"],
    Shape: ["JsonOf", "StandardSchema"],
    Socket: ["Encoded", "JsonWire", "Message*", "Protocol", "Unreadable"],
  },
  "usher-http/postgres": {
    Database: ["BatchOptions", "Borrow", "Isolation", "Query*", "TransactionOptions"],
    Migrations: ["Migrat*", "MigrateOptions", "migrate"],
    Pool: ["Reset"],
    Relay: ["OpenRelay", "relay"],
  },
};

/** What the pages that are no namespace are about. */
export const leads = {
  "usher-http": {
    Refusal:
      "Typed error responses: a code with its status, an error that a handler returns, and a problem of validation.",
    Request:
      "Inputs that any handler may list: what the request and its connection say, and what is added to the response.",
  },
  "usher-http/postgres": {
    Database: "Queries and transactions, and the error that they reject with.",
    Migrations: "Changes of the database's schema, each made once.",
    Relay: "Messages between processes over `LISTEN` and `NOTIFY`.",
  },
};

/**
 * @param {string} entry Such as `usher-http/postgres`. @param {string} name An export of it. @param {readonly string[]} namespaces
 *   The entry's. @returns {string | undefined} The page: undefined where the name has none, or the entry has one page.
 */
export function familyOf(entry, name, namespaces) {
  const pages = families[entry];
  if (pages === undefined) return undefined;
  const listed = Object.entries(pages).find(([, names]) =>
    names.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : one === name)),
  );
  if (listed !== undefined && !namespaces.includes(name)) return listed[0];
  const begins = [...namespaces, ...Object.keys(pages)].filter((page) => name.startsWith(page));
  return begins.toSorted((one, other) => other.length - one.length)[0] ?? listed?.[0];
}
