/** A request target's parts, as sent (RFC 9112 §3.2). */
export interface Target {
  readonly path: string;
  /** Without its `?`. */
  readonly search: string;
  /** Of an absolute target, which then stands for `Host`. */
  readonly authority: string | undefined;
}

/** Cut by hand and never by `URL`, which takes `%2E%2E` for a step up and lets a bad `Host` change the path. */
export function parseTarget(target: string): Target {
  if (target.charCodeAt(0) === 0x2f) return cut(target, undefined);
  const scheme = /^https?:\/\//i.exec(target);
  if (scheme === null) return cut(target, undefined);
  const start = scheme[0].length;
  const end = target.slice(start).search(/[/?#]/);
  if (end === -1) return { path: "/", search: "", authority: target.slice(start) };
  const rest = target.slice(start + end);
  return cut(rest.startsWith("/") ? rest : `/${rest}`, target.slice(start, start + end));
}

function cut(target: string, authority: string | undefined): Target {
  const hash = target.indexOf("#");
  const sent = hash === -1 ? target : target.slice(0, hash);
  const question = sent.indexOf("?");
  if (question === -1) return { path: sent, search: "", authority };
  return { path: sent.slice(0, question), search: sent.slice(question + 1), authority };
}
