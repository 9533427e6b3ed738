// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Moves tokens from many deposit addresses to the hot wallet in one transaction (EIP-7702).
///
/// One contract in two roles. At its own address it is the entry: the hot wallet calls `sweep` with a list. At a deposit address
/// that has delegated to it, it answers `move`, which only the entry may call. The recipient is fixed at deployment, so whatever a
/// caller manages to do, tokens reach the hot wallet or stay. It has no storage, no owner and no upgrade. Not audited.
contract Sweeper {
    address private immutable HOT;
    address private immutable ENTRY;

    error NotAllowed();
    error NotMoved();

    constructor(address hot) {
        HOT = hot;
        ENTRY = address(this);
    }

    /// A delegated deposit address must still accept native coin; with the 2,300 gas of a contract's plain transfer, too.
    receive() external payable {}

    /// A deposit address that moves nothing does not stop the others: the token's logs tell which have moved.
    ///
    /// @param gasEach gas for one deposit address: one that burns all of it leaves the others theirs
    /// @param items one word each: the deposit address (20 bytes), the units (12 bytes)
    function sweep(address token, uint256 gasEach, bytes32[] calldata items) external {
        if (msg.sender != HOT || address(this) != ENTRY) revert NotAllowed();
        bytes4 selector = this.move.selector;
        assembly ("memory-safe") {
            let call_ := mload(0x40)
            mstore(call_, selector)
            mstore(add(call_, 4), token)
            let end := add(items.offset, shl(5, items.length))
            for { let at := items.offset } lt(at, end) { at := add(at, 32) } {
                let item := calldataload(at)
                mstore(add(call_, 36), and(item, 0xffffffffffffffffffffffff))
                pop(call(gasEach, shr(96, item), 0, call_, 68, 0, 0))
            }
        }
    }

    /// Runs at the deposit address. A token may return nothing (as Tether does) or true.
    function move(address token, uint256 units) external {
        if (msg.sender != ENTRY) revert NotAllowed();
        address hot = HOT;
        bool moved;
        assembly ("memory-safe") {
            let call_ := mload(0x40)
            mstore(call_, 0xa9059cbb00000000000000000000000000000000000000000000000000000000)
            mstore(add(call_, 4), hot)
            mstore(add(call_, 36), units)
            // Arguments are evaluated from right to left: the call comes first.
            moved := and(or(iszero(returndatasize()), eq(mload(0), 1)), call(gas(), token, 0, call_, 68, 0, 32))
        }
        if (!moved) revert NotMoved();
    }
}
