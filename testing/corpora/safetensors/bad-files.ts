import { gzipSync } from "node:zlib";
import { SAFETENSORS_LIMITS, type SafetensorsRule } from "@/server/compute/safetensors/rules";
import { type FileParts, headerOf, loraHeader, safetensorsFile } from "./parts";

/**
 * Files that break one rule each, made here byte by byte. `bytes` is a function, because some are many megabytes. `reference` is
 * the verdict of the format's own library (safetensors 0.8.0); if it accepts, the rule is ours.
 */
export type BadFile = {
  name: string;
  rule: SafetensorsRule;
  reference: "accepts" | "refuses";
  bytes: () => Buffer;
};

const good = () => loraHeader({ maker: "kohya" });
const whole = () => safetensorsFile(good());
const cutAt = (length: number) => () => whole().subarray(0, length);

/** A file with this text as its header and this many bytes of data. */
const text = (header: string, data = 4) =>
  safetensorsFile({ header: Buffer.from(header), data: Buffer.alloc(data) });
const one = (entry: string, data = 4) => text(`{"a":${entry}}`, data);
const F32 = '"dtype":"F32","shape":[1],"data_offsets":[0,4]';
const u8 = (name: string, begin: number, end: number) =>
  `${JSON.stringify(name)}:{"dtype":"U8","shape":[${end - begin}],"data_offsets":[${begin},${end}]}`;
const withPrefix = (length: bigint, rest: Buffer) => {
  const prefix = Buffer.alloc(8);
  prefix.writeBigInt64LE(length);
  return Buffer.concat([prefix, rest]);
};
const begunBy = (magic: string | number[]) => () =>
  Buffer.concat([typeof magic === "string" ? Buffer.from(magic, "latin1") : Buffer.from(magic), whole()]);
/** A valid file with one U8 tensor of this content. */
const holding = (data: Buffer): FileParts => ({
  header: headerOf({}, [["a", "U8", [data.length]]]).header,
  data,
});
/** A valid file whose metadata begins with this entry. */
const saying = (key: string, value: string) =>
  safetensorsFile({
    header: Buffer.from(`{"__metadata__":{"${key}":"${value}"},${u8("a", 0, 4)}}`),
    data: Buffer.alloc(4),
  });
const emptyZip = Buffer.concat([Buffer.from("PK\x05\x06", "latin1"), Buffer.alloc(18)]);

const bad = (
  name: string,
  rule: SafetensorsRule,
  reference: BadFile["reference"],
  bytes: () => Buffer,
): BadFile => ({
  name,
  rule,
  reference,
  bytes,
});

/** Every hostile or broken file. */
export const BAD_FILES: readonly BadFile[] = [
  // Length and header as a whole
  bad("empty file", "file_too_short", "refuses", cutAt(0)),
  bad("one byte", "file_too_short", "refuses", cutAt(1)),
  bad("seven bytes", "file_too_short", "refuses", cutAt(7)),
  bad("length alone", "header_truncated", "refuses", cutAt(8)),
  bad("cut in the header", "header_truncated", "refuses", cutAt(100)),
  bad("cut before the closing brace", "header_truncated", "refuses", () =>
    whole().subarray(0, 8 + good().header.length - 1),
  ),
  bad("cut after the header", "data_truncated", "refuses", () =>
    whole().subarray(0, 8 + good().header.length),
  ),
  bad("cut in the data", "data_truncated", "refuses", () =>
    whole().subarray(0, 8 + good().header.length + 5),
  ),
  bad("last byte missing", "data_truncated", "refuses", () => whole().subarray(0, -1)),
  bad("header length 0", "header_empty", "refuses", () => withPrefix(0n, whole().subarray(8))),
  bad("header length 1", "header_json", "refuses", () => withPrefix(1n, whole().subarray(8))),
  bad("header length -1", "header_too_large", "refuses", () => withPrefix(-1n, whole().subarray(8))),
  bad("header length 2^63 - 1", "header_too_large", "refuses", () => withPrefix(2n ** 63n - 1n, whole())),
  bad("header length 2^32 + what it is", "header_too_large", "refuses", () =>
    withPrefix(2n ** 32n + BigInt(good().header.length), whole().subarray(8)),
  ),
  bad("header longer than the file", "header_truncated", "refuses", () =>
    withPrefix(BigInt(whole().length), whole().subarray(8)),
  ),
  bad("header length big endian", "header_too_large", "refuses", () => {
    const file = whole();
    file.subarray(0, 8).reverse();
    return file;
  }),
  bad("header length one short", "header_json", "refuses", () =>
    withPrefix(BigInt(good().header.length - 1), whole().subarray(8)),
  ),
  bad("header length one long, data follows", "header_padding", "refuses", () =>
    withPrefix(BigInt(good().header.length + 1), Buffer.concat([good().header, Buffer.alloc(9)])),
  ),
  bad("header of 17 MiB", "header_too_large", "accepts", () =>
    text(`{${u8("a", 0, 4)}}`.padEnd(17 * 1024 ** 2)),
  ),
  bad("header one byte above the limit", "header_too_large", "accepts", () =>
    text(`{${u8("a", 0, 4)}}`.padEnd(SAFETENSORS_LIMITS.headerBytes + 1)),
  ),
  bad("header {} alone", "no_tensors", "accepts", () => text("{}", 0)),
  bad("metadata alone", "no_tensors", "accepts", () => text('{"__metadata__":{"format":"pt"}}', 0)),
  bad("{} with data", "no_tensors", "refuses", () => text("{}", 4)),

  // These headers are not JSON, or contain more than JSON.
  bad("byte order mark", "header_first_byte", "refuses", () => text(`\ufeff{${u8("a", 0, 4)}}`)),
  bad("space before the brace", "header_first_byte", "accepts", () => text(` {${u8("a", 0, 4)}}`)),
  bad("JSON array", "header_first_byte", "refuses", () => text(`[{${u8("a", 0, 4)}}]`)),
  bad("JSON string", "header_first_byte", "refuses", () => text('"a"')),
  bad("words", "header_first_byte", "refuses", () => text("these are no tensors")),
  bad("brace, then words", "header_json", "refuses", () => text("{these are no tensors}")),
  bad("comma before the closing brace", "header_json", "refuses", () => text(`{${u8("a", 0, 4)},}`)),
  bad("comma missing", "header_json", "refuses", () => text(`{${u8("a", 0, 2)}${u8("b", 2, 4)}}`)),
  bad("single quotes", "header_json", "refuses", () => text(`{${u8("a", 0, 4)}}`.replaceAll('"', "'"))),
  bad("comment", "header_json", "refuses", () => text(`{/* weights */${u8("a", 0, 4)}}`)),
  bad("number as a key", "header_json", "refuses", () => text(`{1:{${F32}}}`)),
  bad("closing brace missing", "header_json", "refuses", () => text(`{${u8("a", 0, 4)}`)),
  bad("NaN as a dimension", "header_json", "refuses", () =>
    one('{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}'),
  ),
  bad("unknown escape", "header_json", "refuses", () => text(`{"\\x61":{${F32}}}`)),
  bad("line break in a name", "header_json", "refuses", () => text(`{"a\nb":{${F32}}}`)),
  bad("padding of NUL", "header_padding", "refuses", () => text(`{${u8("a", 0, 4)}}\0\0\0`)),
  bad("padding of tabs", "header_padding", "accepts", () => text(`{${u8("a", 0, 4)}}\t\t`)),
  bad("padding of line breaks", "header_padding", "accepts", () => text(`{${u8("a", 0, 4)}}  \n`)),
  bad("second object behind the first", "header_padding", "refuses", () => text(`{${u8("a", 0, 4)}}{}`)),
  bad("invalid UTF-8 in a name", "header_utf8", "refuses", () =>
    safetensorsFile({ header: Buffer.from(`{"\xff":{${F32}}}`, "latin1"), data: Buffer.alloc(4) }),
  ),
  bad("overlong UTF-8 in a name", "header_utf8", "refuses", () =>
    safetensorsFile({ header: Buffer.from(`{"\xc0\xaf":{${F32}}}`, "latin1"), data: Buffer.alloc(4) }),
  ),
  bad("surrogate in UTF-8", "header_utf8", "refuses", () =>
    safetensorsFile({ header: Buffer.from(`{"\xed\xa0\x80":{${F32}}}`, "latin1"), data: Buffer.alloc(4) }),
  ),
  bad("half a surrogate pair in a name", "lone_surrogate", "refuses", () => text(`{"a\\ud800":{${F32}}}`)),
  bad("half a surrogate pair in metadata", "lone_surrogate", "refuses", () => saying("a", "\\udc00\\ud800")),
  bad("10,000 levels of arrays", "entry_type", "refuses", () => one(`${"[".repeat(1e4)}${"]".repeat(1e4)}`)),
  bad("10,000 levels of objects", "entry_field_unknown", "refuses", () =>
    text(`${'{"a":'.repeat(1e4)}1${"}".repeat(1e4)}`),
  ),

  // Keys
  bad("one tensor twice", "duplicate_key", "accepts", () => text(`{"a":{${F32}},"a":{${F32}}}`)),
  bad("one tensor twice, once escaped", "duplicate_key", "accepts", () =>
    text(`{"a":{${F32}},"\\u0061":{${F32}}}`),
  ),
  bad("shape twice", "duplicate_key", "refuses", () => one(`{"shape":[1],${F32}}`)),
  bad("offsets twice, different", "duplicate_key", "refuses", () => one(`{${F32},"data_offsets":[0,8]}`)),
  bad("__metadata__ twice", "duplicate_key", "refuses", () =>
    text(`{"__metadata__":{},"__metadata__":{"a":"b"},${u8("a", 0, 4)}}`),
  ),
  bad("metadata key twice", "duplicate_key", "accepts", () =>
    text(`{"__metadata__":{"format":"pt","format":"np"},${u8("a", 0, 4)}}`),
  ),
  bad("__proto__ as a tensor", "tensor_name", "accepts", () => text(`{"__proto__":{${F32}}}`)),
  bad("__proto__ in a tensor", "entry_field_unknown", "accepts", () => one(`{${F32},"__proto__":{}}`)),
  bad("__proto__ in metadata", "metadata_key", "accepts", () => saying("__proto__", "a")),
  bad("metadata with a number", "metadata_type", "refuses", () =>
    text(`{"__metadata__":{"epoch":3},${u8("a", 0, 4)}}`),
  ),
  bad("metadata with an object", "metadata_type", "refuses", () =>
    text(`{"__metadata__":{"training":{"epoch":"3"}},${u8("a", 0, 4)}}`),
  ),
  bad("metadata null", "metadata_type", "accepts", () => text(`{"__metadata__":null,${u8("a", 0, 4)}}`)),
  bad("metadata as a list", "metadata_type", "refuses", () => text(`{"__metadata__":[],${u8("a", 0, 4)}}`)),
  bad("metadata as a tensor", "metadata_type", "refuses", () => text(`{"__metadata__":{${F32}}}`)),
  bad("10,001 metadata entries", "metadata_too_many", "accepts", () => {
    const entries = Array.from({ length: SAFETENSORS_LIMITS.metadataEntries + 1 }, (_, n) => `"${n}":""`);
    return text(`{"__metadata__":{${entries.join(",")}},${u8("a", 0, 4)}}`);
  }),
  bad("metadata key with NUL", "metadata_key", "accepts", () => saying("a\\u0000", "b")),
  bad("name of no characters", "tensor_name", "accepts", () => text(`{"":{${F32}}}`)),
  bad("name with NUL", "tensor_name", "accepts", () => text(`{"a\\u0000b":{${F32}}}`)),
  bad("name that climbs", "tensor_name", "accepts", () => text(`{"../../etc/passwd":{${F32}}}`)),
  bad("name with a backslash", "tensor_name", "accepts", () => text(`{"C:\\\\a":{${F32}}}`)),
  bad("name of 5 kB", "tensor_name", "accepts", () => text(`{"${"a".repeat(5000)}":{${F32}}}`)),
  bad("name of 5 kB in two-byte characters", "tensor_name", "accepts", () =>
    text(`{"${"é".repeat(2500)}":{${F32}}}`),
  ),
  bad("50,001 tensors", "too_many_tensors", "accepts", () =>
    text(
      `{${Array.from({ length: SAFETENSORS_LIMITS.tensors + 1 }, (_, n) => u8(`t${n}`, n, n + 1)).join(",")}}`,
      50_001,
    ),
  ),

  // Entries
  bad("a tensor that is a number", "entry_type", "refuses", () => one("1")),
  bad("a tensor that is null", "entry_type", "refuses", () => one("null")),
  bad("dtype missing", "entry_field_missing", "refuses", () => one('{"shape":[1],"data_offsets":[0,4]}')),
  bad("shape missing", "entry_field_missing", "refuses", () => one('{"dtype":"F32","data_offsets":[0,4]}')),
  bad("offsets missing", "entry_field_missing", "refuses", () => one('{"dtype":"F32","shape":[1]}')),
  bad("empty tensor entry", "entry_field_missing", "refuses", () => one("{}")),
  bad("a field no one knows", "entry_field_unknown", "accepts", () => one(`{${F32},"strides":[4]}`)),
  bad("dtype as a number", "entry_type", "refuses", () =>
    one('{"dtype":7,"shape":[1],"data_offsets":[0,4]}'),
  ),
  bad("shape as a string", "entry_type", "refuses", () =>
    one('{"dtype":"F32","shape":"1","data_offsets":[0,4]}'),
  ),
  bad("dimension as a string", "entry_type", "refuses", () =>
    one('{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}'),
  ),
  bad("unknown dtype", "dtype_unknown", "refuses", () =>
    one('{"dtype":"F128","shape":[1],"data_offsets":[0,16]}', 16),
  ),
  bad("dtype in small letters", "dtype_unknown", "refuses", () =>
    one('{"dtype":"f32","shape":[1],"data_offsets":[0,4]}'),
  ),
  bad("dtype of numpy", "dtype_unknown", "refuses", () =>
    one('{"dtype":"<f4","shape":[1],"data_offsets":[0,4]}'),
  ),
  bad("dtype constructor", "dtype_unknown", "refuses", () =>
    one('{"dtype":"constructor","shape":[1],"data_offsets":[0,4]}'),
  ),
  bad("negative dimension", "number_form", "refuses", () =>
    one('{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}'),
  ),
  bad("two negative dimensions", "number_form", "refuses", () =>
    one('{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}'),
  ),
  bad("negative offset", "number_form", "refuses", () =>
    one('{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}'),
  ),
  bad("minus zero", "number_form", "refuses", () => one('{"dtype":"F32","shape":[1],"data_offsets":[-0,4]}')),
  bad("fraction", "number_form", "refuses", () => one('{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}')),
  bad("exponent", "number_form", "refuses", () => one('{"dtype":"U8","shape":[4],"data_offsets":[0,4e0]}')),
  bad("zero in front", "number_form", "refuses", () =>
    one('{"dtype":"F32","shape":[01],"data_offsets":[0,4]}'),
  ),
  bad("dimension of 2^53", "number_too_large", "refuses", () =>
    one(`{"dtype":"U8","shape":[${2 ** 53}],"data_offsets":[0,4]}`),
  ),
  bad("offset of 2^64", "number_too_large", "refuses", () =>
    one('{"dtype":"U8","shape":[4],"data_offsets":[0,18446744073709551616]}'),
  ),
  bad("offset of 400 digits", "number_too_large", "refuses", () =>
    one(`{"dtype":"U8","shape":[4],"data_offsets":[0,${"9".repeat(400)}]}`),
  ),
  bad("33 dimensions", "shape_dimensions", "accepts", () =>
    one(`{"dtype":"F32","shape":[${Array(33).fill(1)}],"data_offsets":[0,4]}`),
  ),
  bad("a million dimensions", "shape_dimensions", "accepts", () =>
    one(`{"dtype":"F32","shape":[${Array(1e6).fill(1)}],"data_offsets":[0,4]}`),
  ),
  bad("shape that wraps at 2^64 to 4", "shape_overflow", "refuses", () =>
    one(`{"dtype":"U8","shape":[4294967297,4294967297,4],"data_offsets":[0,4]}`),
  ),
  bad("huge dimensions times zero", "shape_overflow", "accepts", () =>
    text(`{"b":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]},${u8("a", 0, 4)}}`),
  ),
  bad("shape says more than the offsets", "size_mismatch", "refuses", () =>
    one('{"dtype":"F32","shape":[2],"data_offsets":[0,4]}'),
  ),
  bad("dtype says less than the offsets", "size_mismatch", "refuses", () =>
    one('{"dtype":"F16","shape":[1],"data_offsets":[0,4]}'),
  ),
  bad("zero dimension with bytes", "size_mismatch", "refuses", () =>
    one('{"dtype":"F32","shape":[0],"data_offsets":[0,4]}'),
  ),
  bad("scalar of two elements' bytes", "size_mismatch", "refuses", () =>
    one('{"dtype":"F32","shape":[],"data_offsets":[0,8]}', 8),
  ),
  bad("three elements of four bits", "shape_alignment", "refuses", () =>
    one('{"dtype":"F4","shape":[3],"data_offsets":[0,2]}', 2),
  ),
  bad("three elements of six bits", "shape_alignment", "refuses", () =>
    one('{"dtype":"F6_E2M3","shape":[3],"data_offsets":[0,3]}', 3),
  ),

  // Layout
  bad("one offset", "offsets_pair", "refuses", () => one('{"dtype":"F32","shape":[1],"data_offsets":[4]}')),
  bad("three offsets", "offsets_pair", "refuses", () =>
    one('{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}'),
  ),
  bad("offsets reversed", "offsets_reversed", "refuses", () =>
    one('{"dtype":"F32","shape":[1],"data_offsets":[4,0]}'),
  ),
  bad("a gap at the beginning", "offsets_gap", "refuses", () => text(`{${u8("a", 2, 4)}}`)),
  bad("a gap between tensors", "offsets_gap", "refuses", () =>
    text(`{${u8("a", 0, 2)},${u8("b", 3, 5)}}`, 5),
  ),
  bad("an empty tensor far away", "offsets_gap", "refuses", () =>
    text(`{${u8("a", 0, 4)},${u8("b", 9, 9)}}`),
  ),
  bad("overlap", "offsets_overlap", "refuses", () => text(`{${u8("a", 0, 3)},${u8("b", 2, 4)}}`)),
  bad("two tensors of the same bytes", "offsets_overlap", "refuses", () =>
    text(`{${u8("a", 0, 4)},${u8("b", 0, 4)}}`),
  ),
  bad("an empty tensor inside another", "offsets_overlap", "refuses", () =>
    text(`{${u8("a", 0, 4)},${u8("b", 2, 2)}}`),
  ),
  bad("offsets past the end", "data_truncated", "refuses", () => text(`{${u8("a", 0, 400)}}`)),
  bad("offsets of 3 GiB", "file_too_large", "refuses", () => text(`{${u8("a", 0, 3 * 1024 ** 3)}}`)),
  bad("one byte too many", "trailing_bytes", "refuses", () => Buffer.concat([whole(), Buffer.alloc(1)])),
  bad("two files, one behind the other", "trailing_bytes", "refuses", () =>
    Buffer.concat([whole(), whole()]),
  ),
  bad("a ZIP file behind it", "trailing_bytes", "refuses", () => Buffer.concat([whole(), emptyZip])),

  // Other formats, and both at once
  bad("ZIP file", "header_too_large", "refuses", begunBy("PK\x03\x04\x14\0\0\0")),
  bad("PDF file", "header_too_large", "refuses", begunBy("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")),
  bad("ELF file", "header_too_large", "refuses", begunBy("\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0")),
  bad("pickle", "header_too_large", "refuses", begunBy("\x80\x04\x95\x1f\0\0\0\0\0\0\0\x8c\x05posix\x94")),
  bad("pickle whose length would do", "header_first_byte", "refuses", () =>
    Buffer.concat([
      Buffer.from("\x80\x02\0\0\0\0\0\0", "latin1"),
      Buffer.from("cos\nsystem\n".padEnd(700, ".")),
    ]),
  ),
  bad("GGUF file", "header_too_large", "refuses", begunBy("GGUF\x03\0\0\0\x10\0\0\0\0\0\0\0")),
  bad(
    "ONNX file",
    "header_too_large",
    "refuses",
    begunBy([8, 8, 18, 7, 112, 121, 116, 111, 114, 99, 104, 58]),
  ),
  bad("HTML page", "header_too_large", "refuses", begunBy("<!doctype html><script>alert(1)</script>")),
  bad(
    "answer of Git LFS",
    "header_too_large",
    "refuses",
    begunBy("version https://git-lfs.github.com/spec/v1\n"),
  ),
  bad("gzip of a good file", "header_first_byte", "refuses", () => gzipSync(whole())),
  bad("all zeros", "header_empty", "refuses", () => Buffer.alloc(4096)),
  bad("a header as long as the mark of gzip says", "polyglot", "accepts", () =>
    text(`{${u8("a", 0, 4)}}`.padEnd(0x088b1f)),
  ),
  bad("a PDF in the metadata", "polyglot", "accepts", () => saying("a", "%PDF-1.7 1 0 obj <<>> endobj")),
  bad("a PDF in the first tensor", "polyglot", "accepts", () =>
    safetensorsFile(holding(Buffer.from("%PDF-1.7\n"))),
  ),
  bad("a tar block of its head", "polyglot", "accepts", () => {
    const front = '{"__metadata__":{"a":"';
    return saying("a", `${"x".repeat(257 - 8 - front.length)}ustar`);
  }),
  bad("a ZIP in the last tensor", "polyglot", "accepts", () =>
    safetensorsFile(holding(Buffer.concat([Buffer.from("PK\x03\x04 and so on", "latin1"), emptyZip]))),
  ),
  bad("a ZIP with a comment in the last tensor", "polyglot", "accepts", () => {
    const ending = Buffer.concat([emptyZip, Buffer.alloc(300, "PK\x05\x06", "latin1")]);
    ending.writeUInt16LE(300, 20);
    return safetensorsFile(holding(Buffer.concat([Buffer.alloc(1000), ending])));
  }),
];

export { GOOD_FILES, type GoodFile } from "./good-files";
