/** A named way to refuse: what it means, and the status it is answered with. */
export interface Code<out Name extends string = string> {
  readonly name: Name;
  /** 4xx or 5xx. */
  readonly status: number;
  /** What the code means, for the API document. */
  readonly doc: string;
  /** The `WWW-Authenticate` value (RFC 9110 §11.6.1); a 401 has one. */
  readonly challenge?: string;
}

/** Declares a code. One name means one thing: `App.make` refuses two codes of one name that differ. */
export function code<const Name extends string>(
  name: Name,
  options: { readonly status: number; readonly doc: string; readonly challenge?: string },
): Code<Name> {
  return { name, ...options };
}
