/** Maps three values (axes, channels, corners) in their order. */
export const mapThree = <T, U>(
  [first, second, third]: readonly [T, T, T],
  make: (each: T, at: 0 | 1 | 2) => U,
): [U, U, U] => [make(first, 0), make(second, 1), make(third, 2)];
