// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A token for the sandbox's chains: OpenZeppelin's ERC-20 with as many decimals as asked, all of it given to one holder.
/// Worth nothing, and never to be deployed anywhere else.
contract TestToken is ERC20 {
    uint8 private immutable _places;

    constructor(string memory name_, string memory symbol_, uint8 decimals_, uint256 supply, address holder) ERC20(name_, symbol_) {
        _places = decimals_;
        _mint(holder, supply);
    }

    function decimals() public view override returns (uint8) {
        return _places;
    }
}
