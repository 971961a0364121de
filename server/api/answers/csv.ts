import { bytes, type RawResponse } from "../transport";

/** A response with a CSV file to download, sent while its content is produced. */
export const csv = ({
  filename,
  content,
}: {
  filename: string;
  content: AsyncIterable<Uint8Array>;
}): RawResponse =>
  bytes({
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${filename}"`,
    },
    body: content,
  });
