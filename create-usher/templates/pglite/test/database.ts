import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/** An empty PostgreSQL in this process: one session, which all connections share. Close it at the end of the test. */
export async function testDatabase(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const db = await PGlite.create();
  const server = new PGLiteSocketServer({ db, port: 0, maxConnections: 10 });
  await server.start();
  const close = async () => {
    await server.stop();
    await db.close();
  };
  return { url: `postgres://postgres@${server.getServerConn()}/postgres`, close };
}
