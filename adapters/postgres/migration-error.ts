/** Why a database was not migrated: which file, what is wrong with it, and what was kept. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MigrationError";
  }
}
