/** Texts of paths that other routers read as parameters: what to write in their place. */

export const likeParameter: RegExp = /^(?::|\*|\{.*\}$|\[.*\]$|<.*>$)/s;

/** Such a text in `Path.of`. */
export function textAdvice(text: string): string {
  const quoted = JSON.stringify(text);
  return `${quoted} is a text: write ${parameterOf(text)} for a parameter, or Path.s(${quoted}) for the text`;
}

function parameterOf(text: string): string {
  const [name = "name"] = /[\w$]+(?=\W*$)/.exec(text) ?? [];
  return `Path.${/\*|\.\.\./.test(text) ? "rest" : "str"}("${name}")`;
}

/** What to write for a path that is given as text, `/orders/:id`. */
export function pathAdvice(path: string): string {
  const segments = path.split("/").filter((segment) => segment !== "");
  const written = segments.map((text) => (likeParameter.test(text) ? parameterOf(text) : JSON.stringify(text)));
  return written.length === 0 ? "Path.root" : `Path.of(${written.join(", ")})`;
}
