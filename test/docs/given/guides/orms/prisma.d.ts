/** Of `@prisma/driver-adapter-utils` 7.10.1, what the adapter of the page uses: the package is not installed here. */
declare module "@prisma/driver-adapter-utils" {
  interface Named {
    readonly provider: "mysql" | "postgres" | "sqlite" | "sqlserver";
    readonly adapterName: string;
  }
  export interface ArgType {
    scalarType: "string" | "int" | "bigint" | "float" | "decimal" | "boolean" | "enum" | "uuid" | "json" | "datetime" | "bytes" | "unknown"; // prettier-ignore
    dbType?: string;
    arity: "scalar" | "list";
  }
  export interface SqlQuery {
    sql: string;
    args: unknown[];
    argTypes: ArgType[];
  }
  type Scalar = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15;
  type List = 64 | 65 | 66 | 67 | 68 | 69 | 70 | 71 | 72 | 73 | 74 | 75 | 76 | 77 | 78;
  export interface SqlResultSet {
    columnTypes: (Scalar | List | 128)[];
    columnNames: string[];
    rows: unknown[][];
    lastInsertId?: string;
  }
  interface SqlQueryable extends Named {
    queryRaw(params: SqlQuery): Promise<SqlResultSet>;
    executeRaw(params: SqlQuery): Promise<number>;
  }
  export type IsolationLevel = "READ UNCOMMITTED" | "READ COMMITTED" | "REPEATABLE READ" | "SNAPSHOT" | "SERIALIZABLE";
  export interface Transaction extends SqlQueryable {
    readonly options: { usePhantomQuery: boolean };
    commit(): Promise<void>;
    rollback(): Promise<void>;
    createSavepoint?(name: string): Promise<void>;
    rollbackToSavepoint?(name: string): Promise<void>;
    releaseSavepoint?(name: string): Promise<void>;
  }
  export interface SqlDriverAdapter extends SqlQueryable {
    executeScript(script: string): Promise<void>;
    startTransaction(isolationLevel?: IsolationLevel): Promise<Transaction>;
    getConnectionInfo?(): { schemaName?: string; maxBindValues?: number; supportsRelationJoins: boolean };
    dispose(): Promise<void>;
  }
  export interface SqlDriverAdapterFactory extends Named {
    connect(): Promise<SqlDriverAdapter>;
  }
}
