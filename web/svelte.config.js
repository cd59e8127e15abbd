import { breakpoints } from './build/breakpoints.mjs'

export default { preprocess: [breakpoints()] }
