//! The allocator of the command.

#![allow(unsafe_code)] // there is no safe way to combine allocators

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

use libmimalloc_sys::{mi_free, mi_malloc_aligned, mi_realloc_aligned, mi_zalloc_aligned};

/// Large blocks come from the system, small ones from mimalloc.
///
/// An application with many stages has millions of small values, which mimalloc allocates and frees in less time than
/// glibc, and without the lock that musl takes. But it copies a block that grows, where the system moves the pages of a
/// large one, so that with mimalloc alone the largest tables exist twice while they grow.
pub(crate) struct BySize;

/// Blocks from this size on come from the system.
pub(crate) const LARGE: usize = 32 << 10;

const fn is_large(size: usize) -> bool {
    size >= LARGE
}

// SAFETY: a block is returned to the allocator that it came from, because that depends only on its size, and the layout
// of a block is the same whenever it is named.
unsafe impl GlobalAlloc for BySize {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises that the size is not zero; the alignment of a layout is a power of two.
        unsafe {
            if is_large(layout.size()) {
                System.alloc(layout)
            } else {
                mi_malloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        unsafe {
            if is_large(layout.size()) {
                System.alloc_zeroed(layout)
            } else {
                mi_zalloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` was allocated with `layout`, so it came from the allocator of that size.
        unsafe {
            if is_large(layout.size()) {
                System.dealloc(block, layout);
            } else {
                mi_free(block.cast());
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match (is_large(layout.size()), is_large(size)) {
            // SAFETY: `block` came from the allocator of its size, which the new size has, too.
            (true, true) => unsafe { System.realloc(block, layout, size) },
            // SAFETY: as above.
            (false, false) => unsafe { mi_realloc_aligned(block.cast(), size, layout.align()).cast() },
            // SAFETY: `block` was allocated with `layout`, and the caller promises that `size` is valid for its alignment.
            _ => unsafe { move_to_other(block, layout, size) },
        }
    }
}

/// Moves a block to the allocator of its new size.
///
/// # Safety
///
/// As for [`GlobalAlloc::realloc`].
unsafe fn move_to_other(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the caller promises that `size` is not zero and valid for the alignment of `layout`, that `block` was
    // allocated with `layout`, and so that both blocks have as many bytes as are copied; they do not overlap.
    unsafe {
        let new = BySize.alloc(Layout::from_size_align_unchecked(size, layout.align()));
        if !new.is_null() {
            ptr::copy_nonoverlapping(block, new, layout.size().min(size));
            BySize.dealloc(block, layout);
        }
        new
    }
}
