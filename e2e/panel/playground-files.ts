import { Document, NodeIO } from "@gltf-transform/core";
import { PDFDocument, StandardFonts } from "pdf-lib";
import sharp from "sharp";

export type SampleFile = { name: string; mimeType: string; buffer: Buffer };

/** A small file of a type that the capability accepts, for the artifact that its example names. */
export async function sampleFile(mediaTypes: string[]): Promise<SampleFile> {
  if (mediaTypes.includes("model/gltf-binary"))
    return { name: "pyramid.glb", mimeType: "model/gltf-binary", buffer: await pyramid() };
  if (mediaTypes.includes("image/png"))
    return { name: "picture.png", mimeType: "image/png", buffer: await picture() };
  if (mediaTypes.includes("application/pdf"))
    return { name: "letter.pdf", mimeType: "application/pdf", buffer: await letter() };
  throw new Error(`There is no sample file of ${mediaTypes.join(", ")}.`);
}

function picture(): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1024" height="1024"><rect width="1024" height="1024" fill="#dde8ee"/><circle cx="512" cy="560" r="260" fill="#24606f"/></svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

async function pyramid(): Promise<Buffer> {
  const document = new Document();
  const buffer = document.createBuffer();
  const corners = [-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1, 0, 1.5, 0];
  const sides = [0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0, 0, 1, 2, 0, 2, 3];
  const primitive = document
    .createPrimitive()
    .setAttribute(
      "POSITION",
      document.createAccessor().setType("VEC3").setArray(new Float32Array(corners)).setBuffer(buffer),
    )
    .setIndices(
      document.createAccessor().setType("SCALAR").setArray(new Uint16Array(sides)).setBuffer(buffer),
    )
    .setMaterial(document.createMaterial().setBaseColorFactor([0.7, 0.3, 0.2, 1]));
  const node = document.createNode().setMesh(document.createMesh().addPrimitive(primitive));
  document.createScene().addChild(node);
  return Buffer.from(await new NodeIO().writeBinary(document));
}

async function letter(): Promise<Buffer> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  document.addPage().drawText("Invoice 4711 of 3 March 2026. Total: 128.50 EUR.", { x: 50, y: 700, font });
  return Buffer.from(await document.save());
}
