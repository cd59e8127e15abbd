// The names under which styles of vector tiles ask for the console's fonts.
export const fonts = { regular: ['Noto Sans Regular'], bold: ['Noto Sans Medium'] }
