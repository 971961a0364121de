import { composeMatrix, IDENTITY, type Matrix, multiplyMatrices } from "../arithmetic";
import { Refused } from "../request";
import type { Gltf, GltfNode } from "./container";

export type PlacedNodes = {
  /** World matrix of every node, drawn or not, because joints may be anywhere. */
  worlds: Matrix[];
  /** The scene's nodes with a mesh, in the order of the tree. */
  drawn: number[];
  scenes: number;
};

/**
 * Computes the position of every node and lists those that the file's default scene shows. Throws `Refused` for cycles and broken
 * references.
 */
export function placeNodes(gltf: Gltf): PlacedNodes {
  const nodes = gltf.nodes ?? [];
  const parents = parentsOf(nodes);
  const roots = nodes.flatMap((_, index) => (parents[index] === -1 ? [index] : []));
  const worlds: Matrix[] = nodes.map(() => IDENTITY);
  const placed = walk(nodes, roots, (index, parent) => {
    worlds[index] = multiplyMatrices(parent === -1 ? IDENTITY : worlds[parent]!, localOf(nodes, index));
    return true;
  });
  if (placed !== nodes.length) throw new Refused("The file's nodes form a cycle.");
  const scene = gltf.scenes?.[gltf.scene ?? 0];
  if (gltf.scenes?.length && !scene) throw new Refused("The file's default scene does not exist.");
  const shown = scene ? (scene.nodes ?? []) : roots;
  const drawn: number[] = [];
  walk(nodes, shown, (index) => {
    const node = nodeAt(nodes, index);
    if (node.extensions?.["KHR_node_visibility"]?.["visible"] === false) return false;
    if (node.mesh !== undefined) drawn.push(index);
    return true;
  });
  return { worlds, drawn, scenes: gltf.scenes?.length ?? 0 };
}

function nodeAt(nodes: GltfNode[], index: number): GltfNode {
  const node = nodes[index];
  if (!node) throw new Refused(`The file has no node ${index}.`);
  return node;
}

function parentsOf(nodes: GltfNode[]): Int32Array {
  const parents = new Int32Array(nodes.length).fill(-1);
  nodes.forEach(({ children = [] }, parent) => {
    if (!Array.isArray(children)) throw new Refused(`The children of node ${parent} are not a list.`);
    for (const child of children) {
      nodeAt(nodes, child);
      if (parents[child] !== -1) throw new Refused(`Node ${child} has two parents.`);
      parents[child] = parent;
    }
  });
  return parents;
}

/**
 * Visits trees from their roots, parents first; a visitor that returns false skips the children. Returns the number of visits.
 */
function walk(nodes: GltfNode[], roots: number[], visit: (index: number, parent: number) => boolean): number {
  const stack = roots.map((index) => ({ index, parent: -1 })).reverse();
  let visits = 0;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { index, parent } = next;
    // More visits than nodes: the scene lists a node twice, or below another that it lists.
    if (++visits > nodes.length) throw new Refused("The file's nodes form a cycle.");
    if (!visit(index, parent)) continue;
    const { children = [] } = nodeAt(nodes, index);
    for (let at = children.length - 1; at >= 0; at--) stack.push({ index: children[at]!, parent: index });
  }
  return visits;
}

function localOf(nodes: GltfNode[], index: number): Matrix {
  const {
    matrix,
    translation = [0, 0, 0],
    rotation = [0, 0, 0, 1],
    scale = [1, 1, 1],
  } = nodeAt(nodes, index);
  const isList = (list: unknown, length: number) =>
    Array.isArray(list) && list.length === length && list.every((each) => Number.isFinite(each));
  if (matrix !== undefined) {
    if (!isList(matrix, 16)) throw new Refused(`The matrix of node ${index} is not 16 numbers.`);
    return matrix;
  }
  if (!isList(translation, 3) || !isList(rotation, 4) || !isList(scale, 3))
    throw new Refused(`The position of node ${index} is not given in numbers.`);
  return composeMatrix(translation, rotation, scale);
}
