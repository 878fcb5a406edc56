// A request target is cut by hand and never by `URL`, which takes `%2E%2E` for a step up and lets a bad `Host` change
// the path.

/** The path and query of a request target (RFC 9112 §3.2), as sent. */
export function originForm(target: string): string {
  const form = target.charCodeAt(0) === 0x2f ? target : withoutAuthority(target);
  const hash = form.indexOf("#");
  return hash === -1 ? form : form.slice(0, hash);
}

/** The path alone. */
export function pathOf(target: string): string {
  const form = originForm(target);
  const question = form.indexOf("?");
  return question === -1 ? form : form.slice(0, question);
}

/** The authority of an absolute target, which then stands for `Host`. */
export function authorityOf(target: string): string | undefined {
  return target.charCodeAt(0) === 0x2f ? undefined : absolute.exec(target)?.[1];
}

const absolute = /^https?:\/\/([^/?#]*)/i;

function withoutAuthority(target: string): string {
  const match = absolute.exec(target);
  if (match === null) return target;
  const rest = target.slice(match[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}
