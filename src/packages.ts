/** Packages that a program installs itself, if it uses the part that needs them. */

/** A package is not installed: the message names it, and the command that installs it. */
export class MissingPackageError extends Error {
  override readonly name = "MissingPackageError";
}

/**
 * Awaits the import of such a package. Node's own error for a missing one names a file of this package, and not what to do.
 *
 * @param maker The function that needs it, or what else of a program does.
 * @param wanted The package as `npm install` takes it, such as `postgres@3.4`.
 * @throws MissingPackageError with the command that installs it, where it is missing. Any other error of the import is thrown as it is.
 */
export async function installed<A>(maker: string, wanted: string, load: () => Promise<A>): Promise<A> {
  try {
    return await load();
  } catch (thrown) {
    const name = wanted.replace(/(?!^)@.*/, "");
    if (!isMissing(name, thrown)) throw thrown;
    throw new MissingPackageError(`${maker} needs the package ${name}, which is not installed: npm install ${wanted}`, {
      cause: thrown,
    });
  }
}

/** Node, Bun and Deno have one code, also where a package is there and lacks one of its own. Each quotes what is missing. */
function isMissing(name: string, thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !("code" in thrown) || thrown.code !== "ERR_MODULE_NOT_FOUND") return false;
  return thrown.message.includes(`'${name}'`) || thrown.message.includes(`"${name}"`);
}
