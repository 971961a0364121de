/** A query that is not a statement: it has its own text, and it may assert the type of its rows. */
const QUERY = /\.query\s*[<(]/g;
/** Commands to a connection, which read and write no table. */
const SESSION =
  /^\s*["'`](BEGIN|COMMIT|ROLLBACK|SAVEPOINT|SET|LISTEN|UNLISTEN|SELECT pg_(try_)?advisory_|SELECT pg_notify\()/;

/** Counts the queries in this text that are neither statements nor commands to a connection. */
export const countQueries = (text: string): number =>
  [...text.matchAll(QUERY)].filter(({ 0: call, index }) => !SESSION.test(text.slice(index + call.length)))
    .length;
