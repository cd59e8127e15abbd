// The colours of the built-in map. Land is lighter than the sea by night as by day, and far enough from it to be seen
// on a dimmed screen. What is not loaded yet has a colour of its own, which is neither.
export const palettes = {
  light: {
    unknown: '#d9d9d9',
    sea: '#c9deed',
    shelf: '#c9deed',
    deep: '#bad3e6',
    land: '#f4f3ee',
    urban: '#e6e1d8',
    ice: '#ffffff',
    river: '#a9c9de',
    reef: '#7fb6c9',
    border: '#a39db8',
    state: '#d6d2dd',
    coast: '#8fb0c6',
    name: '#5f5c70',
    town: '#33323d',
    water: '#41708f',
    halo: '#f7f6f2'
  },
  dark: {
    unknown: '#222222',
    sea: '#08131d',
    shelf: '#08131d',
    deep: '#050d15',
    land: '#313f4c',
    urban: '#3f4e5c',
    ice: '#4a5966',
    river: '#12283a',
    reef: '#2c5a66',
    border: '#66758a',
    state: '#45545f',
    coast: '#5a7287',
    name: '#a3b2c2',
    town: '#d3dce5',
    water: '#6f9bbb',
    halo: '#17212b'
  }
}

export type Palette = (typeof palettes)['light']
