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

/** A package that an entry uses in every program. It is imported where the program makes what needs it, which is before any request. */
export class NeededPackage<A> {
  readonly #wanted: string;
  readonly #load: () => Promise<A>;
  #loaded: A | undefined = undefined;

  /** @param wanted The package as `npm install` takes it. */
  constructor(wanted: string, load: () => Promise<A>) {
    this.#wanted = wanted;
    this.#load = load;
  }

  /** What it exports; undefined before it was imported. */
  get loaded(): A | undefined {
    return this.#loaded;
  }

  /**
   * Begins to import it for a function that returns no promise. A program that lacks it ends soon after, as with a static import, but by a
   * rejection that names the command.
   */
  begin(maker: string): void {
    if (this.#loaded === undefined) this.load(maker).catch(endProgram);
  }

  /** Imports it. Each call has a promise of its own: on Workers a request may not await another request's promise. */
  async load(maker: string): Promise<A> {
    this.#loaded ??= await installed(maker, this.#wanted, this.#load);
    return this.#loaded;
  }
}

/**
 * Without the package, or one of its exports, it throws what it gets: a rejection that nothing handles ends a program of Node, Bun and Deno.
 * Any other error is one of the first request that needs the package: Jest refuses the imports of a test that has ended, for one.
 */
function endProgram(thrown: unknown): void {
  if (thrown instanceof MissingPackageError || thrown instanceof SyntaxError) throw thrown;
}
