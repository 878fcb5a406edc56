const plainName = /^[A-Za-z0-9_$\-\u{80}-\u{10ffff}]+$/u;

/** A step to a member's name itself, where the name is what is wrong. */
export const itsName: unique symbol = Symbol("name");

export type Step = string | number | typeof itsName;

/** Spells where a value stands: `body.items[2].count`, `body["odd name"]`. */
export function placeOf(root: string, path: readonly Step[], depth: number): string {
  let place = root;
  for (let level = 0; level < depth; level++) {
    const step = path[level];
    if (typeof step === "number") place += `[${step}]`;
    else if (step === itsName) place += "[name]";
    else if (step !== undefined) place += plainName.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  }
  return place;
}
