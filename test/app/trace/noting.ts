import { Visitor, parseSync } from "oxc-parser";
import type { ArrowFunctionExpression, Function } from "oxc-parser";

/** A module whose functions each first call `noteEntered` with the module's name. */
export function noting(source: string, file: string): string {
  const note = `noteEntered(${JSON.stringify(file)})`;
  const insertions: (readonly [at: number, text: string])[] = [];
  const visit = ({ body }: Function | ArrowFunctionExpression): void => {
    if (body === null) return;
    if (source[body.start] === "{") insertions.push([body.start + 1, `${note};`]);
    else insertions.push([body.start, `(${note}, `], [body.end, ")"]);
  };
  new Visitor({ FunctionDeclaration: visit, FunctionExpression: visit, ArrowFunctionExpression: visit }).visit(
    parseSync("module.js", source).program,
  );
  let noted = "";
  let end = 0;
  for (const [at, text] of insertions.toSorted(([one], [other]) => one - other)) {
    noted += source.slice(end, at) + text;
    end = at;
  }
  return noted + source.slice(end);
}
