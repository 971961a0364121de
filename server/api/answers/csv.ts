import { bytes, type RawResponse } from "../transport";

/** A CSV file to download, sent as it is written. */
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
