/**
 * The requests, what a client needs for each, and how an answer is put in a cell. A cell in bold has what is needed. The
 * routes: `POST /u/:id` reads a whole number in the path, `page`, `limit` and `sort` in the query, `title` and `count` in the body;
 * `GET /u/:id`, `GET /t/:text` and, after it, `GET /t/me`.
 */

// In each wrong value of the target: an answer that contains it shows the client its own values.
const mark = "ssn-078";
const wrongQuery = `page=1&limit=${mark}&sort=${mark}`;
const wrongBody = JSON.stringify({ title: "", count: 0.5 });

/** Every framework answers it with 200: else the others would say nothing. @type {import("./ask.mjs").Asked} */
export const good = {
  method: "POST",
  target: "/u/1?page=1&limit=1&sort=up",
  body: JSON.stringify({ title: "pen", count: 1 }),
};

/** @typedef {import("./ask.mjs").Answer} Answer */

/**
 * @typedef {object} Request
 * @property {string} name
 * @property {string} needed
 * @property {string} [brief] For the table of `docs/why/compared.md`; without it the request is not there.
 * @property {import("./ask.mjs").Asked} asked
 * @property {(answer: Answer) => string} cell
 * @property {(answer: Answer) => boolean} isMet
 * @property {readonly [cell: string, isMet: boolean]} fastapi By its documentation: FastAPI is not run here.
 */

/** @type {readonly Request[]} */
export const requests = [
  {
    name: "wrong: one value in the path, three in the query",
    needed: "a 400 or 422 that names all four",
    brief: "four wrong values in path and query: how many are named",
    asked: { ...good, target: `/u/${mark}?page=${mark}&limit=${mark}&sort=${mark}` },
    ...naming(["id", "page", "limit", "sort"]),
    fastapi: ["all 4", true],
  },
  {
    name: "wrong: one value in the path, two in the query, two in the body",
    needed: "a 400 or 422 that names all five",
    brief: "five wrong values, two of them in the body",
    asked: { method: "POST", target: `/u/${mark}?${wrongQuery}`, body: wrongBody },
    ...naming(["id", "limit", "sort", "title", "count"]),
    fastapi: ["all 5", true],
  },
  {
    name: "wrong: two values in the query, two in the body",
    needed: "a 400 or 422 that names all four",
    asked: { method: "POST", target: `/u/1?${wrongQuery}`, body: wrongBody },
    ...naming(["limit", "sort", "title", "count"]),
    fastapi: ["all 4", true],
  },
  {
    name: "wrong: two values in the query, and the body is broken JSON",
    needed: "a 400 or 422 that names the query's two",
    asked: { method: "POST", target: `/u/1?${wrongQuery}`, body: '{"title":' },
    ...naming(["limit", "sort"]),
    fastapi: ["0 of 2", false],
  },
  {
    name: "a body of `application/xml`",
    needed: "415",
    brief: "a body of the wrong content type is 415",
    asked: { ...good, headers: { "content-type": "application/xml" } },
    ...byStatus(415),
    fastapi: ["422", false],
  },
  {
    name: 'the handler throws `Error("db password is …")`',
    needed: "500 without the message",
    brief: "an exception is a 500 without its message",
    asked: { method: "GET", target: "/raises" },
    cell: ({ status, body }) => `${status}${body.includes("hunter2") ? " with the message" : ""}`,
    isMet: ({ status, body }) => status === 500 && !body.includes("hunter2"),
    fastapi: ["500", true],
  },
  {
    name: "`PUT` where there are `GET` and `POST`",
    needed: "405 with `Allow`",
    brief: "a wrong method is 405 with `Allow`",
    asked: { method: "PUT", target: "/u/1" },
    ...withAllow(405),
    fastapi: ["405, `Allow`", true],
  },
  {
    name: "`PROPFIND`",
    needed: "501, or 405 with `Allow`",
    asked: { method: "PROPFIND", target: "/u/1" },
    cell: withAllow(405).cell,
    isMet: (answer) => answer.status === 501 || withAllow(405).isMet(answer),
    fastapi: ["405, `Allow`", true],
  },
  {
    name: "`OPTIONS`",
    needed: "204 or 200 with `Allow`",
    brief: "`OPTIONS` is answered with `Allow`",
    asked: { method: "OPTIONS", target: "/u/1" },
    cell: withAllow(204).cell,
    isMet: (answer) => withAllow(204).isMet(answer) || withAllow(200).isMet(answer),
    fastapi: ["405", false],
  },
  {
    name: "`HEAD` of a `GET` route",
    needed: "200",
    brief: "`HEAD` of a `GET` route is 200",
    asked: { method: "HEAD", target: "/u/1" },
    ...byStatus(200),
    fastapi: ["405", false],
  },
  {
    name: "`/u/1/`, with a slash at its end",
    needed: "404 or a redirect: one resource has one address",
    asked: { method: "GET", target: "/u/1/" },
    cell: ({ status }) => String(status),
    isMet: ({ status }) => status === 404 || (status >= 300 && status < 400),
    fastapi: ["307", true],
  },
  {
    name: "`%zz` in the path",
    needed: "400 or 404",
    brief: "a broken `%` in the path is 400 or 404",
    asked: { method: "GET", target: "/t/%zz" },
    cell: withId,
    isMet: ({ status }) => status === 400 || status === 404,
    fastapi: ["200: U+FFFD", false],
  },
  {
    name: "`a%2Fb` as one segment",
    needed: "200 with `a/b`",
    asked: { method: "GET", target: "/t/a%2Fb" },
    cell: withId,
    isMet: ({ status, body }) => status === 200 && body.includes('"a/b"'),
    fastapi: ["404", false],
  },
  {
    name: "a JSON `POST` from another site's page",
    needed: "403",
    brief: "a `POST` by another site's page is 403",
    asked: { ...good, headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" } },
    ...byStatus(403),
    fastapi: ["200", false],
  },
  {
    name: "`/t/me`, declared after `/t/:text`",
    needed: "the route of `/t/me`",
    asked: { method: "GET", target: "/t/me" },
    cell: withId,
    isMet: ({ body }) => body.includes("the literal"),
    fastapi: ["200: `me`", false],
  },
];

/** @param {number} wanted */
function byStatus(wanted) {
  return {
    /** @param {Answer} answer */
    cell: ({ status }) => String(status),
    /** @param {Answer} answer */
    isMet: ({ status }) => status === wanted,
  };
}

/** @param {number} wanted */
function withAllow(wanted) {
  return {
    /** @param {Answer} answer */
    cell: ({ status, headers }) => `${status}${headers.has("allow") ? ", `Allow`" : ""}`,
    /** @param {Answer} answer */
    isMet: ({ status, headers }) => status === wanted && headers.has("allow"),
  };
}

/** @param {Answer} answer */
function withId({ status, body }) {
  const id = /"id":"([^"]*)"/.exec(body)?.[1];
  if (id === undefined) return String(status);
  return `${status}: ${id === "\ufffd" ? "U+FFFD" : `\`${id}\``}`;
}

/** @param {readonly string[]} fields */
function naming(fields) {
  return {
    /** @param {Answer} answer */
    cell({ body }) {
      const { length } = fieldsIn(body, fields);
      const named = length === fields.length ? `all ${length}` : `${length} of ${fields.length}`;
      return `${named}${body === "" ? ", no body" : ""}${body.includes(mark) ? ", shows the values" : ""}`;
    },
    /** @param {Answer} answer */
    isMet: ({ status, body }) => (status === 400 || status === 422) && fieldsIn(body, fields).length === fields.length,
  };
}

/** The fields that a text in the answer names. A member's own name is not one: it may be a copy of the request. */
function fieldsIn(body, fields) {
  const texts = textsOf(body);
  return fields.filter((field) => texts.some((text) => new RegExp(String.raw`\b${field}\b`).test(text)));
}

/** @param {string} json @returns {string[]} */
function textsOf(json) {
  /** @type {string[]} */
  const texts = [];
  const visit = (value) => {
    if (typeof value === "string") texts.push(...(isJson(value) ? textsOf(value) : [value]));
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(visit);
  };
  if (isJson(json)) visit(JSON.parse(json));
  return texts;
}

/** @param {string} text */
function isJson(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
