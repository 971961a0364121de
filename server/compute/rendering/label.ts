import type { LinearPicture } from "./draw";
import type { Vector } from "./request";

/* Letters of round strokes on a grid 4 wide and 6 high, y downward: points of lines, and arcs as points of an ellipse. */

type Point = readonly [x: number, y: number];
/** A quarter circle in four steps: the cosines of 0, 22.5, 45, 67.5 and 90 degrees. */
const QUARTER = [1, 0.92388, Math.SQRT1_2, 0.38268, 0] as const;
/** Points of an ellipse around (cx, cy). Quarters count from 0 to the right, 1 down, 2 to the left, 3 up. */
function arc({
  cx,
  cy,
  rx,
  ry,
  from,
  quarters,
}: {
  cx: number;
  cy: number;
  rx: number;
  ry: number;
  from: number;
  quarters: number;
}): Point[] {
  const points: Point[] = [];
  for (let step = 0; step <= quarters * 4; step++) {
    const turn = (from * 4 + step) % 16;
    const [quarter, part] = [Math.floor(turn / 4), turn % 4];
    const [c, s] = [QUARTER[part]!, QUARTER[4 - part]!];
    const turns: Point[] = [
      [c, s],
      [-s, c],
      [-c, -s],
      [s, -c],
    ];
    const [x, y] = turns[quarter]!;
    points.push([cx + rx * x, cy + ry * y]);
  }
  return points;
}

const BOWL = (top: number, bottom: number, right: number): Point[] => [
  [0, top],
  ...arc({
    cx: right - (bottom - top) / 2,
    cy: (top + bottom) / 2,
    rx: (bottom - top) / 2,
    ry: (bottom - top) / 2,
    from: 3,
    quarters: 2,
  }),
  [0, bottom],
];
const LETTERS: Record<string, Point[][]> = {
  A: [
    [
      [0, 6],
      [2, 0],
      [4, 6],
    ],
    [
      [0.7, 4],
      [3.3, 4],
    ],
  ],
  B: [
    [
      [0, 0],
      [0, 6],
    ],
    BOWL(0, 2.9, 3.5),
    BOWL(2.9, 6, 4),
  ],
  C: [arc({ cx: 2.2, cy: 3, rx: 2.2, ry: 3, from: 0.5, quarters: 3 })],
  E: [
    [
      [3.6, 0],
      [0, 0],
      [0, 6],
      [3.6, 6],
    ],
    [
      [0, 3],
      [3, 3],
    ],
  ],
  F: [
    [
      [3.6, 0],
      [0, 0],
      [0, 6],
    ],
    [
      [0, 3],
      [3, 3],
    ],
  ],
  G: [
    [
      ...arc({ cx: 2.2, cy: 3, rx: 2.2, ry: 3, from: 0, quarters: 0.5 }).slice(0, 1),
      ...arc({ cx: 2.2, cy: 3, rx: 2.2, ry: 3, from: 0, quarters: 3.5 }),
    ],
    [
      [2.5, 3],
      [4.4, 3],
    ],
  ],
  H: [
    [
      [0, 0],
      [0, 6],
    ],
    [
      [4, 0],
      [4, 6],
    ],
    [
      [0, 3],
      [4, 3],
    ],
  ],
  I: [
    [
      [0, 0],
      [0, 6],
    ],
  ],
  K: [
    [
      [0, 0],
      [0, 6],
    ],
    [
      [3.8, 0],
      [0, 3.8],
    ],
    [
      [1.4, 2.5],
      [4, 6],
    ],
  ],
  L: [
    [
      [0, 0],
      [0, 6],
      [3.4, 6],
    ],
  ],
  M: [
    [
      [0, 6],
      [0, 0],
      [2.4, 4.2],
      [4.8, 0],
      [4.8, 6],
    ],
  ],
  N: [
    [
      [0, 6],
      [0, 0],
      [4, 6],
      [4, 0],
    ],
  ],
  O: [arc({ cx: 2.3, cy: 3, rx: 2.3, ry: 3, from: 0, quarters: 4 })],
  P: [
    [
      [0, 6],
      [0, 0],
    ],
    BOWL(0, 3.2, 3.8),
  ],
  Q: [
    arc({ cx: 2.3, cy: 3, rx: 2.3, ry: 3, from: 0, quarters: 4 }),
    [
      [2.8, 4.4],
      [4.5, 6.3],
    ],
  ],
  R: [
    [
      [0, 6],
      [0, 0],
    ],
    BOWL(0, 3.2, 3.8),
    [
      [1.9, 3.2],
      [4, 6],
    ],
  ],
  T: [
    [
      [0, 0],
      [4.2, 0],
    ],
    [
      [2.1, 0],
      [2.1, 6],
    ],
  ],
  U: [[[0, 0], ...arc({ cx: 2, cy: 4, rx: 2, ry: 2, from: 0, quarters: 2 }).reverse(), [4, 0]]],
  "-": [
    [
      [0, 3.2],
      [2, 3.2],
    ],
  ],
};
const HEIGHT = 6;
const SPACE = 1.7;
const STROKE = 0.42;

const widthOf = (letter: string) =>
  Math.max(0, ...(LETTERS[letter] ?? []).flatMap((stroke) => stroke.map(([x]) => x)));

/** Writes a word in capitals centered at (x, y); characters that are not in LETTERS are dropped. */
export function writeLabel(
  picture: LinearPicture,
  word: string,
  { x, y, size, color }: { x: number; y: number; size: number; color: Vector },
): void {
  const letters = [...word.toUpperCase()].filter((letter) => letter in LETTERS);
  const scale = size / HEIGHT;
  const whole = letters.reduce((sum, letter) => sum + widthOf(letter) + SPACE, -SPACE) * scale;
  let left = x - whole / 2;
  for (const letter of letters) {
    for (const stroke of LETTERS[letter] ?? [])
      line(
        picture,
        stroke.map(([px, py]) => [left + px * scale, y - size / 2 + py * scale]),
        STROKE * scale,
        color,
      );
    left += (widthOf(letter) + SPACE) * scale;
  }
}

/** Draws a line with round ends; the opacity of a pixel falls with its distance from the line. */
function line({ width, height, data }: LinearPicture, points: Point[], radius: number, color: Vector): void {
  const reach = radius + 1;
  const xs = points.map(([px]) => px);
  const ys = points.map(([, py]) => py);
  const [left, right] = [
    Math.max(0, Math.floor(Math.min(...xs) - reach)),
    Math.min(width - 1, Math.ceil(Math.max(...xs) + reach)),
  ];
  const [top, bottom] = [
    Math.max(0, Math.floor(Math.min(...ys) - reach)),
    Math.min(height - 1, Math.ceil(Math.max(...ys) + reach)),
  ];
  for (let py = top; py <= bottom; py++)
    for (let px = left; px <= right; px++) {
      let nearest = Number.POSITIVE_INFINITY;
      for (let n = 1; n < points.length; n++)
        nearest = Math.min(nearest, distance(px + 0.5, py + 0.5, points[n - 1]!, points[n]!));
      const alpha = Math.min(1, Math.max(0, radius + 0.5 - Math.sqrt(nearest)));
      if (alpha === 0) continue;
      const at = (py * width + px) * 4;
      for (let part = 0; part < 3; part++)
        data[at + part] = data[at + part]! * (1 - alpha) + color[part]! * alpha;
      data[at + 3] = data[at + 3]! * (1 - alpha) + alpha;
    }
}

/** Squared distance of a place from the line between two points. */
function distance(x: number, y: number, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const along = length > 0 ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
  const [ex, ey] = [x - ax - along * dx, y - ay - along * dy];
  return ex * ex + ey * ey;
}
