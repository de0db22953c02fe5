//! The command's allocator: blocks keep their content wherever they come from.

#![allow(unsafe_code)] // a global allocator has no safe interface

use std::alloc::{GlobalAlloc, Layout};

#[path = "../../src/allocator.rs"]
mod by_size;

use by_size::{BySize, LARGE};

/// Sizes on both sides of the limit, growing and shrinking.
const SIZES: [usize; 9] = [1, 24, LARGE - 1, LARGE, LARGE + 1, 40 * LARGE, LARGE, LARGE - 1, 8];

/// A byte that tells places apart.
const fn byte(at: usize) -> u8 {
    at.to_le_bytes()[0]
}

#[test]
fn a_block_keeps_its_content_when_it_moves_between_allocators() {
    for align in [1, 8, 64, 4096] {
        let mut layout = Layout::from_size_align(SIZES[0], align).unwrap();
        // SAFETY: every layout has a size, each block is named with the layout it has, and only its bytes are used.
        unsafe {
            let mut block = BySize.alloc(layout);
            *block = 7;
            for size in SIZES {
                block = BySize.realloc(block, layout, size);
                assert!(!block.is_null() && block.addr().is_multiple_of(align), "{size} aligned to {align}");
                let kept = layout.size().min(size);
                assert!((1..kept).all(|at| *block.add(at) == byte(at)), "{size} aligned to {align}");
                assert_eq!(*block, 7);
                (1..size).for_each(|at| *block.add(at) = byte(at));
                layout = Layout::from_size_align(size, align).unwrap();
            }
            BySize.dealloc(block, layout);
        }
    }
}

#[test]
fn zeroed_blocks_are_zero() {
    for size in SIZES {
        let layout = Layout::from_size_align(size, 8).unwrap();
        // SAFETY: as above.
        unsafe {
            let used = BySize.alloc(layout);
            (0..size).for_each(|at| *used.add(at) = 1);
            BySize.dealloc(used, layout);
            let block = BySize.alloc_zeroed(layout);
            assert!((0..size).all(|at| *block.add(at) == 0), "{size}");
            BySize.dealloc(block, layout);
        }
    }
}
